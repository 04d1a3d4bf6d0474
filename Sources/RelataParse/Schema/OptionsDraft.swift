/// The facts about classes while they are being changed, with the names of the changed ones: after a change of one of a
/// thousand, the others aren't compared.
struct OptionsDraft {
    /// The facts as they were, by class.
    private let original: [String: ClassOptions]
    /// The facts as they are, by class.
    private(set) var all: [String: ClassOptions]
    /// The names of the classes whose facts may be changed.
    private(set) var touched: Set<String> = []

    init(_ options: [String: ClassOptions]) {
        original = options
        all = options
    }

    subscript(name: String) -> ClassOptions? {
        get { all[name] }
        _modify {
            touched.insert(name)
            yield &all[name]
        }
    }

    subscript(name: String, default nothing: @autoclosure () -> ClassOptions) -> ClassOptions {
        get { all[name] ?? nothing() }
        _modify {
            touched.insert(name)
            yield &all[name, default: nothing()]
        }
    }

    /// The names of the classes with other facts than they had.
    var changed: Set<String> { touched.filter { all[$0] != original[$0] } }
}
