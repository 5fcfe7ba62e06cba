//! One agent job per CSV row (spec 10, *fanout*).
