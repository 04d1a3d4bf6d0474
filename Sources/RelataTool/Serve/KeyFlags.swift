#if CommandLineTool && Server
import ArgumentParser
import RelataCore
import RelataParse
import RelataServer

/// The flags of `relata serve` that are about keys, and where they may come from.
struct KeyFlags: ParsableArguments {
    @Option(help: "The file that keeps the keys. (default: FILE.keys)", completion: .file())
    var keys: String?
    @Option(
        name: .customLong("app-id"), help: "The application's id. (default: made at the first start)")
    var appID: String?
    @Option(help: "The key of clients, empty for none. (default: made at the first start)")
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
        help: "The key that allows everything, empty for none. (default: made at the first start)")
    var masterKey: String?
    @Option(help: "A key that reads everything, and changes nothing. (default: none)")
    var readOnlyMasterKey: String?
    @Option(
        help:
            "A key that also writes ids, times and hashes of passwords, to move a server. (default: none)"
    )
    var maintenanceKey: String?
    @Option(
        help:
            "Where the master key may come from: 10.0.0.0/8, ::1 and others, between commas. (default: anywhere)"
    )
    var masterKeyAddresses: String?
    @Option(help: "Where the read-only master key may come from. (default: anywhere)")
    var readOnlyMasterKeyAddresses: String?
    @Option(help: "Where the maintenance key may come from. (default: this machine)")
    var maintenanceKeyAddresses: String?
    @Option(help: "How long a key holds that was replaced in the file of keys. (default: 10m)")
    var oldKeyTime: String?
    @Option(help: "The proxies whose X-Forwarded-For is believed, between commas. (default: none)")
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
    /// The keys that are given without the file.
    ///
    /// - Throws: `ValidationError` that names a setting that can't be.
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

    /// Addresses, between commas.
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
