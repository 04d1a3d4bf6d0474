#if CommandLineTool && Server
import ArgumentParser
import RelataCore
import RelataParse
import RelataServer

/// The flags of `relata serve` for keys, and for the addresses that may use them.
struct KeyFlags: ParsableArguments {
    @Option(help: "The file in which the keys are stored. (default: FILE.keys)", completion: .file())
    var keys: String?
    @Option(
        name: .customLong("app-id"), help: "The application's id. (default: created at the first start)")
    var appID: String?
    @Option(help: "The key of clients, empty for none. (default: created at the first start)")
    var clientKey: String?
    @Option(
        name: .customLong("rest-api-key"),
        help: "The key of programs that call the REST API. (default: the client key)"
    )
    var restAPIKey: String?
    @Option(
        name: .customLong("javascript-key"), help: "The key of web pages. (default: the client key)")
    var javaScriptKey: String?
    @Option(
        name: .customLong("dotnet-key"),
        help: "The key of programs on .NET. (default: the client key)")
    var dotNetKey: String?
    @Option(
        help: "The key that allows everything, empty for none. (default: created at the first start)")
    var masterKey: String?
    @Option(help: "A key that can read everything and change nothing. (default: none)")
    var readOnlyMasterKey: String?
    @Option(
        help:
            "A key that can also write ids, times and password hashes, for moving a server. (default: none)"
    )
    var maintenanceKey: String?
    @Option(
        help:
            "Addresses that may use the master key, such as 10.0.0.0/8,::1. (default: all)"
    )
    var masterKeyAddresses: String?
    @Option(help: "Addresses that may use the read-only master key. (default: all)")
    var readOnlyMasterKeyAddresses: String?
    @Option(help: "Addresses that may use the maintenance key. (default: this machine)")
    var maintenanceKeyAddresses: String?
    @Option(help: "How long a replaced key in the key file stays valid. (default: 10m)")
    var oldKeyTime: String?
    @Option(help: "Addresses of the proxies whose X-Forwarded-For is trusted, separated by commas. (default: none)")
    var trustedProxies: String?

    var given: [ServeSetting: String] {
        let options: [ServeSetting: String?] = [
            .keys: keys, .appID: appID, .clientKey: clientKey, .restAPIKey: restAPIKey,
            .javaScriptKey: javaScriptKey,
            .dotNetKey: dotNetKey, .masterKey: masterKey, .readOnlyMasterKey: readOnlyMasterKey,
            .maintenanceKey: maintenanceKey, .masterKeyAddresses: masterKeyAddresses,
            .readOnlyMasterKeyAddresses: readOnlyMasterKeyAddresses,
            .maintenanceKeyAddresses: maintenanceKeyAddresses, .oldKeyTime: oldKeyTime,
            .trustedProxies: trustedProxies,
        ]
        return options.compactMapValues { $0 }
    }
}

extension ServeSettings {
    /// The keys from flags, variables and the configuration file.
    ///
    /// - Throws: `ValidationError` that names an invalid setting.
    func givenKeys() throws -> KeyFile.Given {
        var given = KeyFile.Given(
            applicationID: text(.appID), clientKey: text(.clientKey), masterKey: text(.masterKey))
        guard given.applicationID?.isEmpty != true else {
            throw ValidationError("the application's id is empty")
        }
        (given.restAPIKey, given.javaScriptKey, given.dotNetKey) = (
            text(.restAPIKey), text(.javaScriptKey), text(.dotNetKey)
        )
        (given.readOnlyMasterKey, given.maintenanceKey) = (
            text(.readOnlyMasterKey), text(.maintenanceKey)
        )
        given.masterKeyAddresses = try addresses(.masterKeyAddresses)
        given.readOnlyMasterKeyAddresses = try addresses(.readOnlyMasterKeyAddresses)
        given.maintenanceKeyAddresses = try addresses(.maintenanceKeyAddresses)
        return given
    }

    /// The addresses in a list that commas separate.
    func addresses(_ setting: ServeSetting) throws -> AddressRanges? {
        guard let texts = list(setting) else { return nil }
        do {
            return try AddressRanges(texts)
        } catch {
            guard case .invalidUse(let message) = error else { throw error }
            throw ValidationError("\(setting.flag): \(message)")
        }
    }
}
#endif
