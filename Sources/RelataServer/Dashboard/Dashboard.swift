#if Server
import RelataDashboard

extension RelataServer {
    /// The pages at `/dashboard` that show a store, and change it. Whoever signs in with the master key may do everything.
    public struct Dashboard: Hashable, Sendable {
        /// What the pages call the store, such as the name of its file.
        public var name: String
        /// Whether the pages only show.
        public var isReadOnly: Bool

        /// A dashboard for a store.
        public init(name: String, isReadOnly: Bool = false) {
            self.name = name
            self.isReadOnly = isReadOnly
        }

        /// Where the pages are.
        static let mount = "/dashboard"

        /// The pages. They load nothing from elsewhere, run no script but their own, and are shown in no frame.
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

    /// A token that signs in to the dashboard once, within an hour: `/dashboard/#token=…`; `nil` where there is none.
    public func makeDashboardToken() -> String? { sessions?.makeLoginToken() }
}
#endif
