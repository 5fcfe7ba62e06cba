//! Shapes of well-known tokens.

/// One alternative a kind. Where a group is there, it is the secret and the rest stays (`Bearer ***`).
///
/// No alternative scans on behind what it matches, so finding all matches takes linear time.
pub(super) const SHAPES: &str = concat!(
    // OpenAI, Anthropic, OpenRouter, DeepSeek, …; Stripe.
    r"\b(?:sk|rk|pk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}",
    // GitHub.
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}",
    // AWS.
    r"|\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
    // Slack, Google, GitLab, npm, Hugging Face, PyPI, xAI, Groq, DigitalOcean.
    r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}",
    r"|\bAIza[0-9A-Za-z_-]{30,}|\bya29\.[0-9A-Za-z_-]{20,}",
    r"|\bglpat-[0-9A-Za-z_-]{16,}|\bnpm_[A-Za-z0-9]{30,}|\bhf_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{40,}",
    r"|\bxai-[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}|\bdop_v1_[a-f0-9]{40,}",
    // JSON web tokens.
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    // Headers.
    r"|(?i:\b(?:bearer|authorization:\s*basic))[ \t]+([A-Za-z0-9._~+/=-]{16,})",
    // Passwords in addresses.
    r"|\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\x22]{0,100}:([^\s/@\x22]{3,200})@",
    // Private keys, whole or cut off anywhere (a stream is masked before its end is seen), newlines escaped or not.
    r"|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]|\\[nrt]|-[A-Za-z0-9])*",
    r"(?:-{1,5}(?:E(?:N(?:D[A-Z0-9 ]{0,60}-{0,5})?)?)?)?",
);

/// Rules out what has the shape by accident: `sk-circle-fade-dot-something` of a style sheet has no digit and no capital.
pub(super) fn is_secret(found: &[u8]) -> bool {
    let prefixed = [b"sk-", b"rk-", b"pk-", b"sk_", b"rk_", b"pk_"].iter().any(|prefix| found.starts_with(*prefix));
    !prefixed || found.iter().skip(3).any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}
