#if CommandLineTool && Server
import ArgumentParser
import RelataParse
import RelataServer

extension ServeSettings {
    /// Applies the settings for users and the mails to them.
    ///
    /// - Parameter name: The name of the database.
    /// - Throws: `ValidationError` that names an invalid setting.
    func setAccounts(of options: inout ParseService.Options, name: String) throws {
        if let time = try lifetime(.sessionLifetime) { options.sessionLifetime = time }
        options.extendsSessions = try isOn(.extendSessions)
        try setPasswords(of: &options)
        options.lockout = try lockout()
        options.mail = try mail(name: name)
        options.signIn = try signInProviders()
    }

    /// Applies the settings for passwords.
    ///
    /// - Throws: `ValidationError` that names an invalid setting.
    func setPasswords(of options: inout ParseService.Options) throws {
        if let cost = try integer(.passwordCost) {
            guard (10...20).contains(cost) else { throw ValidationError("--password-cost must be 10 to 20") }
            options.secrets = ScryptSecrets(cost: cost)
        }
        options.passwords.pattern = text(.passwordPattern)
        options.passwords.advice = text(.passwordAdvice)
        options.passwords.mayContainUsername = try !isOn(.passwordWithoutUsername)
        options.passwords.maximumAge = try lifetime(.passwordMaxAge)
        if let count = try integer(.passwordHistory) { options.passwords.history = count }
    }

    private func lockout() throws -> LockoutOptions? {
        let (time, endsWithReset) = (try lifetime(.lockoutDuration), try isOn(.lockoutEndsWithReset))
        guard let threshold = try integer(.lockoutThreshold) else {
            if time == nil, !endsWithReset { return nil }
            throw ValidationError("--lockout-duration and --lockout-ends-with-reset need --lockout-threshold")
        }
        var lockout = LockoutOptions(threshold: threshold)
        if let time { lockout.duration = time }
        lockout.endsWithReset = endsWithReset
        return lockout
    }

    private func mail(name: String) throws -> MailOptions? {
        let others: [ServeSetting] = [
            .smtpSecurity, .smtpUser, .smtpPassword, .smtpCertificates, .mailFrom, .appName, .verifyEmails,
            .requireVerifiedEmail, .resetLifetime, .verificationLifetime,
        ]
        guard let server = text(.smtpServer) else {
            guard let other = others.first(where: { text($0) != nil && text($0)?.lowercased() != "false" }) else {
                return nil
            }
            throw ValidationError("\(other.flag) needs --smtp-server: without a mail server, no mails are sent")
        }
        guard let from = text(.mailFrom), let publicURL = text(.publicURL) else {
            throw ValidationError("--smtp-server needs --mail-from and --public-url")
        }
        var options = MailOptions(
            try sender(server, from: from), appName: text(.appName) ?? name, publicURL: publicURL)
        options.verifiesAddresses = try isOn(.verifyEmails)
        options.needsVerifiedAddress = try isOn(.requireVerifiedEmail)
        if let time = try lifetime(.resetLifetime) { options.resetLifetime = time }
        if let time = try lifetime(.verificationLifetime) { options.verificationLifetime = time }
        return options
    }

    private func sender(_ server: String, from: String) throws -> SMTPSender {
        let security: SMTPSender.Security = try choice(.smtpSecurity) ?? .startTLS
        // An IPv6 address with a port has brackets.
        var (host, port) = (server, Int?.none)
        if let colon = server.lastIndex(of: ":"), server.hasPrefix("[") || server.firstIndex(of: ":") == colon,
            !server.hasSuffix("]")
        {
            port = Int(server[server.index(after: colon)...])
            host = String(server[..<colon])
            guard port != nil else {
                throw ValidationError("--smtp-server must be a name, or a name and a port: \(server)")
            }
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        var sender = SMTPSender(host, port: port, security: security, from: from)
        sender.certificates = text(.smtpCertificates)
        switch (text(.smtpUser), text(.smtpPassword)) {
        case (let user?, let password?): sender.login = .init(user: user, password: password)
        case (nil, nil): break
        default: throw ValidationError("--smtp-user and --smtp-password belong together")
        }
        return sender
    }
}
#endif
