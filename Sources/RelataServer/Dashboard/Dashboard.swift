#if Server
import RelataDashboard

extension RelataServer {
    /// The pages at `/dashboard` that show a store, and change it. A user who signs in with the master key may do
    /// everything.
    public struct Dashboard: Hashable, Sendable {
        /// The name of the store on the pages, such as the name of its file.
        public var name: String
        /// Whether the pages only show.
        public var isReadOnly: Bool

        /// The file for the log of changes, a JSON object per line; `nil`, the default, for none. At 10 MB it is
        /// renamed with the suffix `.1`, replacing the previous one, and a new file begins.
        public var auditFile: String?
        /// The maximum total size of the files of an import, in bytes.
        public var maximumImport = 1024 * 1024 * 1024

        /// A dashboard for a store.
        public init(name: String, isReadOnly: Bool = false, auditFile: String? = nil) {
            self.name = name
            self.isReadOnly = isReadOnly
            self.auditFile = auditFile
        }

        /// The path of the pages.
        static let mount = "/dashboard"

        /// The pages. They load nothing from elsewhere, run only their own scripts, and can't be shown in a frame.
        static let files: StaticFiles = {
            var files = StaticFiles(DashboardFiles.all)
            files.headers = [
                (
                    "content-security-policy",
                    """
                    default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                    form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                    trusted-types 'none'
                    """
                ),
                ("referrer-policy", "no-referrer"), ("cross-origin-opener-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"), ("x-frame-options", "DENY"),
            ]
            return files
        }()
    }

    /// A token that signs in to the dashboard once, within an hour: `/dashboard/#token=…`; `nil` for no dashboard.
    public func makeDashboardToken() -> String? { sessions?.makeLoginToken() }
}
#endif
