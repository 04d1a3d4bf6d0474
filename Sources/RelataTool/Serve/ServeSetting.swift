#if CommandLineTool && Server

/// A setting of a server: by a flag, by an environment variable, and in a configuration file.
enum ServeSetting: String, CaseIterable {
    case file, host, port, mount
    case publicFolder = "public"
    case files
    case fileUploads = "file-uploads"
    case maxFile = "max-file"
    case fileExtensions = "file-extensions"
    case deniedFileExtensions = "denied-file-extensions"
    case inlineFileTypes = "inline-file-types"
    case signedFiles = "signed-files"
    case unusedFiles = "unused-files"
    case publicURL = "public-url"
    case dashboard, audit
    case production, development
    case keys
    case appID = "app-id"
    case clientKey = "client-key"
    case restAPIKey = "rest-api-key"
    case javaScriptKey = "javascript-key"
    case dotNetKey = "dotnet-key"
    case masterKey = "master-key"
    case readOnlyMasterKey = "read-only-master-key"
    case maintenanceKey = "maintenance-key"
    case masterKeyAddresses = "master-key-addresses"
    case readOnlyMasterKeyAddresses = "read-only-master-key-addresses"
    case maintenanceKeyAddresses = "maintenance-key-addresses"
    case oldKeyTime = "old-key-time"
    case trustedProxies = "trusted-proxies"
    case rateLimit = "rate-limit"
    case tlsCertificate = "tls-certificate"
    case tlsKey = "tls-key"
    case allowOrigin = "allow-origin"
    case maxBody = "max-body"
    case maxBodies = "max-bodies"
    case maxBodyWithoutKeys = "max-body-without-keys"
    case maxReply = "max-reply"
    case maxKeptReply = "max-kept-reply"
    case maxKeptReplies = "max-kept-replies"
    case maxBatch = "max-batch"
    case maxRequestLine = "max-request-line"
    case maxConnections = "max-connections"
    case maxLimit = "max-limit"
    case idleTimeout = "idle-timeout"
    case transferTimeout = "transfer-timeout"
    case requestTimeout = "request-timeout"
    case stopTimeout = "stop-timeout"
    case customObjectIDs = "custom-object-ids"
    case prohibitedNames = "prohibited-names"
    case severalGeoPoints = "several-geo-points"
    case withoutLiveQueries = "without-live-queries"
    case smtpServer = "smtp-server"
    case smtpSecurity = "smtp-security"
    case smtpUser = "smtp-user"
    case smtpPassword = "smtp-password"
    case smtpCertificates = "smtp-certificates"
    case mailFrom = "mail-from"
    case appName = "app-name"
    case verifyEmails = "verify-emails"
    case requireVerifiedEmail = "require-verified-email"
    case resetLifetime = "reset-lifetime"
    case verificationLifetime = "verification-lifetime"
    case passwordPattern = "password-pattern"
    case passwordAdvice = "password-advice"
    case passwordWithoutUsername = "password-without-username"
    case passwordMaxAge = "password-max-age"
    case passwordHistory = "password-history"
    case passwordCost = "password-cost"
    case lockoutThreshold = "lockout-threshold"
    case lockoutDuration = "lockout-duration"
    case lockoutEndsWithReset = "lockout-ends-with-reset"
    case sessionLifetime = "session-lifetime"
    case extendSessions = "extend-sessions"
    case appleClientIDs = "apple-client-ids"
    case googleClientIDs = "google-client-ids"
    case openIDIssuer = "openid-issuer"
    case openIDClientIDs = "openid-client-ids"
    case openIDName = "openid-name"
    case openIDKeys = "openid-keys"
    case openIDAlgorithms = "openid-algorithms"
    case openIDCertificates = "openid-certificates"
    case durability
    case metrics
    case logLevel = "log-level"
    case logFormat = "log-format"
    case logRequests = "log-requests"

    /// `RELATA_MAX_BODY`.
    var variable: String { "RELATA_" + rawValue.uppercased().replacing("-", with: "_") }

    /// Its name on the command line.
    var flag: String { self == .file ? "FILE" : "--\(rawValue)" }
}
#endif
