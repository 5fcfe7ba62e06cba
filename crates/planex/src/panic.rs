//! A panic is planex's own fault: said in two lines, exit 1, no wall of addresses.

use std::io::Write as _;

/// Replaces the default hook.
pub(crate) fn install() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        crate::ui::select::restore();
        // Someone who asked for a backtrace gets the full report.
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            default(info);
            return;
        }
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("no message");
        // Nothing can be done about a broken stderr while panicking.
        let _ = writeln!(
            std::io::stderr(),
            "planex: internal error: {text}{place}\nThis is a fault in planex, not in your project. Saved state is \
             whole; run `planex resume`. Please report it with the output of `planex doctor`."
        );
    }));
}
