use super::*;

fn kind(text: &str) -> FaultKind {
    Fault::classify(None, text).kind
}

#[test]
fn words_and_statuses_tell_failures_apart() {
    let cases = [
        ("exceeded retry limit, last status: 429 Too Many Requests", FaultKind::RateLimited),
        ("unexpected status 401 Unauthorized: bad key", FaultKind::Auth),
        ("Not logged in · Please run /login", FaultKind::Auth),
        ("Missing environment variable: `FAKE_KEY`.", FaultKind::Auth),
        ("[API Error: 401 invalid key]", FaultKind::Auth),
        ("[API Error: 429 slow down]", FaultKind::RateLimited),
        ("[API Error: 500 oops]", FaultKind::Other),
        ("API Error: 529 {\"type\":\"overloaded_error\"}", FaultKind::Overload),
        ("Quota exceeded. Check your plan and billing details.", FaultKind::Quota),
        ("insufficient_quota", FaultKind::Quota),
        ("You've hit your usage limit. Try again at 14:30", FaultKind::Quota),
        ("You've hit your usage limit. Upgrade to Pro", FaultKind::Quota),
        ("Rate limit reached, try again in 1.5s", FaultKind::RateLimited),
        ("RESOURCE_EXHAUSTED: You exceeded your current quota", FaultKind::RateLimited),
        ("the file has 429 lines and 401 words", FaultKind::Other),
        ("stream disconnected before completion", FaultKind::Other),
        ("", FaultKind::Other),
    ];
    for (text, wanted) in cases {
        assert_eq!(kind(text), wanted, "{text}");
    }
    assert_eq!(Fault::classify(Some(529), "x").kind, FaultKind::Overload);
    assert_eq!(Fault::classify(Some(500), "x").kind, FaultKind::Other);
}

#[test]
fn a_limit_that_says_when_it_ends_is_waited_for() {
    let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let cause = |text: &str| {
        Fault::classify(None, text)
            .to_cause(now, &Zone::new(&planex_core::settings::ZoneSetting::Utc, &jiff::tz::TimeZone::UTC))
    };
    let limit = cause("You've hit your usage limit. Try again at 14:30.");
    assert_eq!(limit.kind, CauseKind::RateLimited);
    assert_eq!(limit.retry_at.unwrap().to_string(), "2026-03-01T14:30:00Z");
    assert_eq!(cause("You've hit your usage limit. Upgrade to Pro").kind, CauseKind::Quota);
    assert_eq!(cause("rate limit, try again in 20s").retry_at.unwrap().to_string(), "2026-03-01T12:00:20Z");
    assert_eq!(cause("401 Unauthorized, try again in 20s").retry_at, None);
}

proptest::proptest! {
    #[test]
    fn any_text_is_classified(text in ".{0,300}") {
        proptest::prop_assert!(Fault::classify(None, &text).message.len() <= MAX_MESSAGE);
    }
}
