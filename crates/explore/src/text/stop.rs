//! Words that say nothing about where code lies.

use std::collections::HashSet;
use std::sync::LazyLock;

static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "a about above actual actually add added adding after again all allow already also always am an and another any anyone appear are \
     as at available away back be because become been before behavior behaviour being below best better between both bug but by call can \
     cannot case change changed changes code com come could couldn current currently describe described details did didn different do does \
     doesn doing don done down due during each either else enough environment etc even every everything exact example expect expected \
     fact far few file find first fix fixed fixes follow following for found from full further get getting give given go going good got \
     had happen happens has hasn have having he help her here hi hint his hope how however http https i idea if in info information \
     instead into is isn issue issues it item its itself just keep kind know last later least less let like likely line lines little ll \
     long look looking looks lot made make makes making many may maybe me mean means might missing more most much must my need needed \
     needs never new next nice no non none not nothing note now of off ok old on once one only onto open or original other others our out \
     over own part people perhaps place please point possible pr probably problem problems proposed provide provides pull put question \
     quite rather re really reason recent related report reproduce request result results right run running s said same say see seem seems \
     seen self set several should shouldn show shown shows simple simply since so solution some something sometimes somewhere sort speak \
     start steps still such suggestion support sure t take tell than thank thanks that the their them then there these they thing things \
     think this those though through thus time to today together too tried try trying two type under unless until up update us use used \
     user using usually ve version very via want wanted was wasn way we well went were what when where whether which while who whole whom \
     why will with within without won work worked working works would wouldn write wrong yes yet you your \
     return def import true false null none let var const pub fn func function class this int void str public static github \
     com www org io html feat chore traceback recent file module stdin usr lib home python3 site packages bin local"
        .split_whitespace()
        .collect()
});

/// Whether a lower-case word says nothing. Asked for stems and for whole words.
pub(crate) fn is_stop_word(word: &str) -> bool {
    WORDS.contains(word)
}
