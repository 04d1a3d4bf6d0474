#if CommandLineTool && Server
import ArgumentParser
import Foundation
import RelataCore
import RelataParse

/// `relata user`
struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Creates users of a server, and changes their passwords and roles.",
        discussion: """
            Examples:
              relata user create library.sqlite mei --email mei@example.org
              relata user reset library.sqlite mei < password.txt
              relata user roles library.sqlite mei --add Editors

            The server can run at the same time. To apply its password rules and write to its audit log, pass the \
            configuration file of relata serve, or set the same environment variables (RELATA_PASSWORD_PATTERN and \
            others). The password is asked for on a terminal, and is otherwise read from the first line of standard \
            input.
            """,
        subcommands: [
            UserCreateCommand.self, UserResetCommand.self, UserRolesCommand.self, UserListCommand.self,
        ])
}

/// The database and the settings of a subcommand.
struct UserArguments: ParsableArguments {
    @OptionGroup var source: FileArgument
    @Option(help: "The configuration file of relata serve.", completion: .file()) var config: String?
}

/// `relata user create FILE NAME`
struct UserCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates a user, and asks for the password.")

    @OptionGroup var arguments: UserArguments
    @Argument(help: "The user's name.") var name: String
    @Option(help: "The user's address.") var email: String?
    @Flag(help: "Mark the address as verified.") var verified = false

    func validate() throws {
        if verified, email == nil { throw ValidationError("--verified needs --email") }
    }

    func run() async throws {
        try await UserWork.run(arguments, asksPassword: true) { work, password in
            let id = try await work.desk.create(
                name, password: password, email: email, isEmailVerified: verified)
            work.note("create the user \(id)")
            print("created \(DisplayText.visible(name)) with the id \(id)")
        }
    }
}

/// `relata user reset FILE NAME`
struct UserResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Sets a user's password, and ends the user's sessions.",
        discussion: "It also unlocks an account that wrong passwords have locked.")

    @OptionGroup var arguments: UserArguments
    @Argument(help: "The user's name or id.") var name: String

    func run() async throws {
        try await UserWork.run(arguments, asksPassword: true, checking: name) { work, password in
            let (user, count) = try await work.desk.setPassword(password, of: name)
            work.note("reset the password of the user \(user.id)")
            print("\(DisplayText.visible(user.name)) (\(user.id)) has a new password")
            print("\(DisplayText.count(count, "session")) ended")
        }
    }
}

/// `relata user roles FILE NAME`
struct UserRolesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roles", abstract: "Shows a user's roles, and adds or removes some.")

    @OptionGroup var arguments: UserArguments
    @Argument(help: "The user's name or id.") var name: String
    @Option(help: "A role to add; may be given several times.") var add: [String] = []
    @Option(help: "A role to remove; may be given several times.") var remove: [String] = []
    @Flag(help: "Create roles that don't exist: everyone can read them, and only the master key can change them.")
    var create = false

    func validate() throws {
        if create, add.isEmpty { throw ValidationError("--create needs --add") }
        if let both = Set(add).intersection(remove).min() {
            throw ValidationError("--add and --remove can't name the same role: \(both)")
        }
    }

    func run() async throws {
        try await UserWork.run(arguments, isReadOnly: add.isEmpty && remove.isEmpty) { work, _ in
            let user = try await work.desk.account(name)
            for role in add {
                if try await work.desk.add(user, to: role, makesRole: create) {
                    work.note("give the role \(role) to the user \(user.id)")
                }
            }
            for role in remove {
                try await work.desk.remove(user, from: role)
                work.note("remove the role \(role) from the user \(user.id)")
            }
            let roles = try await work.desk.roles(of: user)
            guard !roles.isEmpty else {
                print("\(DisplayText.visible(user.name)) (\(user.id)) has no roles")
                return
            }
            print("\(DisplayText.visible(user.name)) (\(user.id)) has")
            for role in roles {
                print("  \(DisplayText.visible(role.role))\(role.isDirect ? "" : ", by another role")")
            }
        }
    }
}

/// `relata user list FILE`
struct UserListCommand: AsyncParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case table, json }

    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists users by their names.")

    @OptionGroup var arguments: UserArguments
    @Option(help: "The largest number of users to list.") var limit = 100
    @Option(help: "table, or json: one object per line.") var format = Format.table

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit \(limit) lists nobody") }
    }

    func run() async throws {
        try await UserWork.run(arguments, isReadOnly: true) { work, _ in
            let (accounts, count) = try await work.desk.accounts(limit: limit)
            switch format {
            case .table:
                let table = TextTable(
                    headings: ["name", "id", "email", "verified", "created"],
                    rows: accounts.map { user in
                        [
                            .init(DisplayText.visible(user.name)), .init(user.id),
                            .init(DisplayText.visible(user.email ?? "")),
                            .init(user.email == nil ? "" : user.isEmailVerified ? "yes" : "no"),
                            .init(user.createdAt),
                        ]
                    })
                for line in table.lines() { print(line) }
                let shown = accounts.count < count ? ", of which \(accounts.count) are shown" : ""
                print("\n\(DisplayText.count(count, "user"))\(shown)")
            case .json:
                for user in accounts {
                    var line: JSONObject = ["id": .string(user.id), "username": .string(user.name)]
                    if let email = user.email {
                        line["email"] = .string(email)
                        line["emailVerified"] = .bool(user.isEmailVerified)
                    }
                    line["createdAt"] = .string(user.createdAt)
                    print(JSONWriter.text(.object(line)))
                }
            }
        }
    }
}
#endif
