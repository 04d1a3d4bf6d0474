extension WireRequest {
    /// The header fields that the protocol uses, by their names in lower case. A transport needn't read others.
    public static let headerNames = [
        "x-parse-application-id", "x-parse-client-key", "x-parse-javascript-key", "x-parse-rest-api-key",
        "x-parse-master-key", "x-parse-maintenance-key", "x-parse-session-token", "x-parse-request-id",
        "x-http-method-override",
        "x-parse-client-version", "x-parse-windows-key", "x-parse-installation-id", "authorization", "content-type",
        "accept-language", "range", "if-range", "if-none-match", "x-parse-file-metadata", "x-parse-file-tags",
        "x-parse-cloud-context",
    ]
}
