//! Japanese and Chinese technical words and the English words that stand for them in code.
//!
//! Kept small: what people write in tasks. What is missing still matches through bigrams of comments.

use crate::tokens::{is_cjk, stem};

/// One translated word.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Translated<'a> {
    /// As written.
    pub(crate) foreign: &'a str,
    /// As a term.
    pub(crate) english: String,
}

/// All words of the dictionary that occur in `text`, longest first where they overlap.
pub(crate) fn translate(text: &str) -> Vec<Translated<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(first) = rest.chars().next() else { break };
        let hit = is_cjk(first).then(|| WORDS.iter().filter(|(w, _)| rest.starts_with(w)).max_by_key(|(w, _)| w.len())).flatten();
        if let Some((word, english)) = hit {
            let foreign = rest.get(..word.len()).unwrap_or_default();
            found.extend(english.split_whitespace().map(|e| Translated { foreign, english: stem(e).to_owned() }));
            at += word.len();
        } else {
            at += first.len_utf8();
        }
    }
    found
}

const WORDS: &[(&str, &str)] = &[
    ("アカウント", "account"), ("アクセス", "access"), ("アップロード", "upload"), ("アプリ", "app"), ("イベント", "event"),
    ("インストール", "install"), ("インターフェース", "interface"), ("インデックス", "index"), ("インポート", "import"), ("ウィンドウ", "window"),
    ("エクスポート", "export"), ("エスケープ", "escape"), ("エディタ", "editor"), ("エラー", "error"), ("エンコード", "encode encoding"),
    ("エンコーディング", "encoding"), ("オプション", "option"), ("カーソル", "cursor"), ("カウンタ", "counter"), ("カラー", "color"),
    ("キー", "key"), ("キャッシュ", "cache"), ("キャンセル", "cancel"), ("キュー", "queue"), ("クエリ", "query"),
    ("クッキー", "cookie"), ("クライアント", "client"), ("クラス", "class"), ("クリック", "click"), ("グラフ", "graph"),
    ("グループ", "group"), ("コマンド", "command"), ("コメント", "comment"), ("コンソール", "console"), ("コンテキスト", "context"),
    ("コンパイル", "compile"), ("コンポーネント", "component"), ("サーバー", "server"), ("サーバ", "server"), ("サービス", "service"),
    ("サイズ", "size"), ("シグナル", "signal"), ("シェル", "shell"), ("シンボリックリンク", "symlink"), ("ジョブ", "job"),
    ("スキーマ", "schema"), ("スクリプト", "script"), ("スコープ", "scope"), ("スタイル", "style"), ("ステータス", "status"),
    ("ストリーム", "stream"), ("スレッド", "thread"), ("セッション", "session"), ("ソート", "sort"), ("ソケット", "socket"),
    ("タイムアウト", "timeout"), ("タイムゾーン", "timezone"), ("タグ", "tag"), ("タスク", "task"), ("タブ", "tab"),
    ("ダウンロード", "download"), ("ダイアログ", "dialog"), ("ターミナル", "terminal"), ("チャネル", "channel"), ("チェック", "check"),
    ("ディレクトリ", "directory dir"), ("データベース", "database db"), ("データ", "data"), ("テーブル", "table"), ("テーマ", "theme"),
    ("テスト", "test"), ("テンプレート", "template"), ("デコード", "decode"), ("デバッグ", "debug"), ("デフォルト", "default"),
    ("トークン", "token"), ("トランザクション", "transaction"), ("ネットワーク", "network"), ("ノード", "node"), ("ハッシュ", "hash"),
    ("ハンドラ", "handler"), ("バージョン", "version"), ("バッファ", "buffer"), ("バリデーション", "validate validation"), ("パーサー", "parser parse"),
    ("パーサ", "parser parse"), ("パース", "parse"), ("パス", "path"), ("パスワード", "password"), ("パターン", "pattern"),
    ("パッケージ", "package"), ("パフォーマンス", "performance"), ("パラメータ", "parameter param"), ("ヒストリ", "history"), ("ファイル", "file"),
    ("フィルタ", "filter"), ("フィールド", "field"), ("フォーマット", "format"), ("フォーム", "form"), ("フォルダ", "folder dir"),
    ("フック", "hook"), ("フラグ", "flag"), ("プラグイン", "plugin"), ("プロキシ", "proxy"), ("プロジェクト", "project"),
    ("プロセス", "process"), ("プロトコル", "protocol"), ("プロンプト", "prompt"), ("プレビュー", "preview"), ("ページ", "page"),
    ("ヘッダー", "header"), ("ヘッダ", "header"), ("ヘルプ", "help"), ("ベンチマーク", "benchmark"), ("ボタン", "button"),
    ("ポート", "port"), ("マージ", "merge"), ("マクロ", "macro"), ("マッチ", "match"), ("メール", "mail email"),
    ("メソッド", "method"), ("メッセージ", "message"), ("メニュー", "menu"), ("メモリ", "memory"), ("モジュール", "module"),
    ("モデル", "model"), ("ユーザー", "user"), ("ユーザ", "user"), ("ライブラリ", "library lib"), ("リクエスト", "request"),
    ("リスト", "list"), ("リダイレクト", "redirect"), ("リトライ", "retry"), ("リファクタ", "refactor"), ("リンク", "link"),
    ("ルーティング", "routing route router"), ("ルート", "route root"), ("レスポンス", "response"), ("レンダリング", "render"), ("ログイン", "login"),
    ("ログアウト", "logout"), ("ログ", "log"), ("ロール", "role"), ("ロック", "lock"), ("ワーカー", "worker"),
    ("引数", "argument arg"), ("色", "color"), ("解析", "parse analyze"), ("解凍", "decompress"), ("改行", "newline line"),
    ("拡張子", "extension"), ("環境変数", "env environment"), ("関数", "function"), ("管理", "manage admin"), ("起動", "start launch"),
    ("強調", "highlight"), ("共有", "share"), ("権限", "permission"), ("検索", "search find"), ("検証", "validate verify"),
    ("圧縮", "compress"), ("暗号", "encrypt crypto cipher"), ("依存", "dependency"), ("一覧", "list"), ("画像", "image"),
    ("画面", "screen view"), ("履歴", "history"), ("更新", "update"), ("構文", "syntax parse"), ("行番号", "line number"),
    ("再帰", "recursive"), ("再試行", "retry"), ("削除", "delete remove"), ("作成", "create"), ("支払", "payment pay"),
    ("時刻", "time"), ("実行", "execute run"), ("終了", "exit quit"), ("重複", "duplicate"), ("出力", "output"),
    ("初期化", "init initialize"), ("除外", "exclude ignore"), ("署名", "signature sign"), ("順序", "order"), ("証明書", "certificate cert"),
    ("状態", "state status"), ("数値", "number"), ("整形", "format"), ("正規表現", "regex regexp"), ("接続", "connection connect"),
    ("設定", "config setting"), ("選択", "select selection"), ("送信", "send"), ("属性", "attribute"), ("多言語", "i18n locale"),
    ("通知", "notification notify"), ("注文", "order"), ("通信", "network"), ("入力", "input"), ("認可", "authorize authorization"),
    ("認証", "auth authenticate authentication"), ("配列", "array"), ("日付", "date"), ("日時", "date time"), ("非同期", "async"),
    ("表示", "display show view"), ("標準入力", "stdin"), ("標準出力", "stdout"), ("復元", "restore"), ("並列", "parallel"),
    ("保存", "save store"), ("変換", "convert"), ("変数", "variable"), ("補完", "completion complete"), ("無視", "ignore"),
    ("無効", "disable invalid"), ("有効", "enable valid"), ("文字列", "string"), ("文字コード", "encoding charset"), ("翻訳", "translate locale"),
    ("読み込", "read load"), ("書き込", "write"), ("例外", "exception"), ("隠しファイル", "hidden file"), ("大文字", "case upper"),
    // Chinese where it differs.
    ("按钮", "button"), ("参数", "parameter param arg"), ("测试", "test"), ("插件", "plugin"), ("查询", "query"),
    ("超时", "timeout"), ("错误", "error"), ("登录", "login"), ("登出", "logout"), ("调试", "debug"),
    ("队列", "queue"), ("服务器", "server"), ("服务", "service"), ("格式", "format"), ("函数", "function"),
    ("缓存", "cache"), ("环境变量", "env environment"), ("回调", "callback"), ("会话", "session"), ("加密", "encrypt crypto"),
    ("接口", "interface api"), ("进程", "process"), ("客户端", "client"), ("控制台", "console"), ("类型", "type"),
    ("连接", "connection connect"), ("令牌", "token"), ("路径", "path"), ("路由", "route router"), ("密码", "password"),
    ("命令", "command"), ("模板", "template"), ("模块", "module"), ("目录", "directory dir"), ("内存", "memory"),
    ("排序", "sort"), ("配置", "config"), ("权限", "permission"), ("请求", "request"), ("认证", "auth authenticate"),
    ("日志", "log"), ("上传", "upload"), ("设置", "setting config"), ("事件", "event"), ("输出", "output"),
    ("输入", "input"), ("数据库", "database db"), ("数据", "data"), ("刷新", "refresh"), ("搜索", "search"),
    ("索引", "index"), ("通知", "notification notify"), ("图片", "image"), ("文件", "file"), ("下载", "download"),
    ("线程", "thread"), ("响应", "response"), ("消息", "message"), ("性能", "performance"), ("验证", "validate verify"),
    ("页面", "page view"), ("依赖", "dependency"), ("异步", "async"), ("异常", "exception"), ("用户", "user"),
    ("邮件", "mail email"), ("支付", "payment pay"), ("订单", "order"), ("正则", "regex"), ("执行", "execute run"),
    ("主题", "theme"), ("状态", "state status"), ("字符串", "string"), ("组件", "component"), ("并发", "concurrent"),
    ("安全", "security secure"), ("删除", "delete remove"), ("添加", "add"), ("显示", "display show"), ("解析", "parse"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_word_wins() {
        let english = |text| translate(text).into_iter().map(|t| t.english).collect::<Vec<_>>();
        assert_eq!(english("パスワード"), ["password"]);
        assert_eq!(english("登录缓存"), ["login", "cach"]);
        assert!(english("plain text").is_empty());
    }
}
