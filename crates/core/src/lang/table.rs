//! The messages themselves, one a line; see [`crate::lang`] for how to add one.

use super::Texts;

macro_rules! messages {
    ($($name:ident: $en:literal $(ja $ja:literal)? $(zh $zh:literal)?;)*) => {
        /// A message; its English text is its documentation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Msg {
            $(#[doc = $en] $name,)*
        }

        impl Msg {
            /// Every message, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its texts.
            #[must_use]
            pub fn texts(self) -> Texts {
                match self {
                    $(Self::$name => Texts { en: $en, ja: messages!(@opt $($ja)?), zh: messages!(@opt $($zh)?) },)*
                }
            }
        }
    };
    (@opt) => { None };
    (@opt $text:literal) => { Some($text) };
}

messages! {
    // Options of gates.
    OptionApprove: "Approve" ja "承認" zh "批准";
    OptionModify: "Modify" ja "修正" zh "修改";
    OptionCancel: "Cancel" ja "中止" zh "取消";
    OptionExecute: "Execute" ja "実行" zh "执行";
    OptionRetryFailed: "Retry Failed" ja "失敗分を再実行" zh "重试失败的任务";
    OptionViewReport: "View Report" ja "レポートを見る" zh "查看报告";
    OptionDone: "Done" ja "完了" zh "完成";

    // Gates.
    GateAnglesTitle: "Explore from these angles?";
    GateAnglesModify: "edit {file}, then run: {command}";
    GateTasksTitle: "Execute {tasks} tasks in {waves} waves?";
    GateTasksModify: "edit {file}, then run: {command}";
    GateFailuresTitle: "{failed} tasks failed and {skipped} were skipped";
    StoppedAtGate: "stopped at the gate `{gate}`; answer it with: {command}";
    Cancelled: "cancelled; the session is kept in {path}";
    GoOnWith: "go on with: {command}";

    // Progress.
    WaveStarted: "wave {wave} of {of}: {items}";
    WaveFinished: "wave {wave} of {of}: {completed} completed, {failed} failed, {skipped} skipped";
    JobStarted: "{item}: {agent} starts ({title})";
    JobFinished: "{item}: {status} after {duration}";
    JobWaiting: "{item}: waiting until {until} ({reason})";
    ItemSkipped: "{item}: skipped ({reason})";
    NoIsolation: "tasks run in the working tree itself (isolation none)";
    NoGit: "this is no git repository: tasks run in the folder itself";

    // Errors and how to mend them.
    NoAgent: "no usable agent for the role {role}";
    NoAgentHint: "install and log in to one of {agents}, then run: {command}";
    SessionLocked: "the session {session} is driven by process {pid} on {host}";
    SessionUnknown: "no session matches `{query}`";
    SessionAmbiguous: "several sessions match `{query}`";
    Interrupted: "interrupted; the state is saved";

    // The terminal.
    SessionStarted: "session {session} ({workflow})" ja "セッション {session}（{workflow}）" zh "会话 {session}（{workflow}）";
    SessionGoesOn: "session {session} goes on ({workflow})" ja "セッション {session} を再開（{workflow}）" zh "继续会话 {session}（{workflow}）";
    PhaseFinished: "{phase}: {summary}";
    JobActivity: "{item}: {text}";
    ItemFinished: "{item}: {status}";
    Used: ", {tokens} tokens{cost}" ja "、{tokens} トークン{cost}" zh "，{tokens} 个 token{cost}";
    ItemEnded: "{item}: {status} ({reason})";
    GateAnswered: "gate `{gate}`: {choice} (by {by})" ja "ゲート `{gate}`：{choice}（{by}）" zh "关卡 `{gate}`：{choice}（{by}）";
    SessionEnded: "session {status}: {tokens} tokens{cost}" ja "セッション {status}：{tokens} トークン{cost}" zh "会话 {status}：{tokens} 个 token{cost}";
}
