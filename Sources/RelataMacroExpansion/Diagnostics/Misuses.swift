/// All messages: the mistake, and its correction.
extension Misuse {
    // MARK: The model

    static func notAStruct(_ introducer: String) -> Misuse {
        Misuse("@Model needs a struct: a model is a value. Write 'struct' instead of '\(introducer)'")
    }
    static func genericModel(_ model: String) -> Misuse {
        Misuse("'\(model)' can't be generic: one entity has one table. Write a struct for each type of content")
    }
    static func noPrimaryKey(_ model: String) -> Misuse {
        Misuse(
            "'\(model)' has no primary key: add 'let id: ID<\(model)>', or mark the properties that make up the key "
                + "with @Attribute(.primaryKey)")
    }
    static func hiddenId(_ level: String, model: String) -> Misuse {
        Misuse("'id' must be as visible as '\(model)' is, because Identifiable exposes it: make it \(level)")
    }
    static func idBesideKey(_ type: String, key: [String]) -> Misuse {
        let names = key.map { "'\($0)'" }.joined(separator: ", ")
        return Misuse(
            "'id' of type \(type) isn't the primary key, which is \(names), so the database never assigns it: "
                + "remove '.primaryKey' there, or rename 'id'")
    }
    static func reservedName(_ name: String) -> Misuse {
        Misuse(
            "'\(name)' is a name that every model uses itself: choose another, and keep the column with "
                + "@Attribute(column: \(name.literal))")
    }

    static func reservedType(_ name: String) -> Misuse {
        Misuse("'\(name)' is the name of a type that @Model adds: choose another, or declare it outside the model")
    }

    // MARK: Markers

    static func markerOnOther(_ marker: String) -> Misuse {
        Misuse("@\(marker) marks a stored property of a @Model struct: remove it here")
    }
    static func markerOutsideModel(_ marker: String) -> Misuse {
        Misuse("@\(marker) works only inside a @Model struct: mark the struct with @Model, or remove it here")
    }
    static func listOutsideModel(_ macro: String) -> Misuse {
        Misuse("#\(macro) works only inside a @Model struct: move it there")
    }
    static func markerOnComputed(_ name: String, _ marker: String) -> Misuse {
        Misuse("'\(name)' is computed and so isn't stored: remove @\(marker), or make it a stored property")
    }
    static func repeatedMarker(_ marker: String) -> Misuse {
        Misuse("@\(marker) is written twice: put all arguments into the first one")
    }
    static func markerOnTransient(_ name: String, _ marker: String) -> Misuse {
        Misuse("'\(name)' is transient and so isn't stored: remove @\(marker), or remove @Transient to store it")
    }
    static func relationshipOnAttribute(_ name: String, _ type: String) -> Misuse {
        Misuse(
            "'\(name)' is of type \(type), which isn't a link: write @Attribute, or make its type ToOne, HasOne, ToMany or Through"
        )
    }
    static func relationshipOnModel(_ name: String, _ type: String, _ link: String) -> Misuse {
        Misuse("'\(name)' is of type \(type), which isn't a link: write '\(link)'")
    }
    static func modelInItself(_ name: String, _ type: String, _ link: String) -> Misuse {
        Misuse("'\(name)' is of type \(type), and a model isn't stored inside another: write '\(link)'")
    }
    static func attributeOnLink(_ name: String, _ kind: Link.Kind) -> Misuse {
        let hint =
            switch kind {
            case .toOne:
                "name its columns with @Relationship(columns:), make it unique with #Unique, and only a part of the "
                    + "primary key is marked @Attribute(.primaryKey) and nothing else"
            case .toMany: "name its join table with @Relationship(joinTable:), count it with minimum: and maximum:"
            case .hasOne, .through: "nothing of it is stored here"
            }
        return Misuse("@Attribute is for values, and '\(name)' is a link: \(hint)")
    }

    // MARK: Stored properties

    static func conditionalProperty(_ names: String) -> Misuse {
        Misuse(
            "'\(names)' is inside '#if', where @Model doesn't see it: declare it outside, and compute what differs from "
                + "it inside")
    }
    static var tuplePattern: Misuse {
        Misuse("@Model needs one declaration for each property: declare each of these separately, with its type")
    }
    static func hidingModifier(_ name: String, _ modifier: String) -> Misuse {
        let instead =
            modifier == "lazy"
            ? "give it an initial value without 'lazy', or compute it" : "link another model with ToOne"
        return Misuse("'\(name)' can't be '\(modifier)': \(instead)")
    }
    static func wrappedProperty(_ name: String, _ wrapper: String) -> Misuse {
        Misuse(
            "'\(name)' can't be stored through '@\(wrapper)', which hides its value: remove '@\(wrapper)', or add "
                + "@Transient and an initial value")
    }
    static func missingType(_ name: String, _ inferred: String?) -> Misuse {
        Misuse(
            "'\(name)' needs an explicit type, because @Model can't see inferred types: 'var \(name): \(inferred ?? "…")'"
        )
    }
    static func implicitlyUnwrapped(_ name: String, _ optional: String) -> Misuse {
        Misuse("'\(name)' can't be implicitly unwrapped, because a missing value would trap: write '\(optional)'")
    }
    static func nestedOptional(_ name: String, _ type: String) -> Misuse {
        Misuse("'\(name)' can't be optional twice: write '\(type)?'")
    }
    static func unsupportedType(_ name: String, _ reason: String) -> Misuse {
        Misuse("'\(name)' can't be stored: \(reason)")
    }
    static func constantWithValue(_ name: String) -> Misuse {
        Misuse(
            "'\(name)' is a constant that no row could change: write 'var', leave the value to the initialiser, or make it "
                + "static if it isn't stored")
    }
    static func transientWithoutValue(_ name: String) -> Misuse {
        Misuse("'\(name)' is transient and needs an initial value, which it has after every fetch")
    }

    // MARK: Options of attributes

    static func repeatedOption(_ name: String, _ option: String) -> Misuse {
        Misuse("'.\(option)' is given twice for '\(name)': keep one")
    }
    static func conflictingOptions(_ name: String, _ first: String, _ second: String) -> Misuse {
        Misuse("'\(name)' can't be both '.\(first)' and '.\(second)': keep one")
    }
    static func optionOnOtherType(_ name: String, _ option: String, fits: String, _ type: String) -> Misuse {
        Misuse("'.\(option)' needs \(fits), and '\(name)' is of type \(type): remove it, or change the type")
    }
    static func emptyBounds(_ name: String, _ option: String) -> Misuse {
        Misuse("'.\(option)' of '\(name)' leaves no value: write the smaller bound first")
    }
    static func optionalRevision(_ name: String) -> Misuse {
        Misuse("'\(name)' counts the changes of every row: write an integer that isn't optional")
    }
    static func repeatedStamp(_ stamp: String, model: String) -> Misuse {
        Misuse("'\(model)' has another '.\(stamp)': keep one")
    }

    // MARK: Keys, uniques and indexes

    static func keyType(_ name: String, _ type: String) -> Misuse {
        Misuse(
            "'\(name)' can't be the primary key, because \(type) doesn't reliably identify objects: write an ID, an "
                + "Int?, a String, a UUID or an enum")
    }
    static func optionalKey(_ name: String, _ type: String, isComposite: Bool) -> Misuse {
        let reason =
            isComposite
            ? "each part of a compound primary key must be set"
            : "only an 'Int?' is assigned by the database"
        return Misuse("'\(name)' can't be optional, as \(reason): write '\(type)'")
    }
    static func emptyList(_ macro: String, model: String) -> Misuse {
        Misuse("#\(macro) needs arrays of key paths: '#\(macro)<\(model)>([\\.first, \\.second])'")
    }
    static func listOfOtherModel(_ macro: String, model: String) -> Misuse {
        Misuse("#\(macro) describes the model that contains it: write '#\(macro)<\(model)>'")
    }
    static func repeatedInList(_ name: String, _ macro: String) -> Misuse {
        Misuse("'\(name)' is in this #\(macro) twice: keep one")
    }
    static func notInColumns(_ name: String, _ macro: String) -> Misuse {
        Misuse("'\(name)' has no column for #\(macro): name stored attributes and to-one links only")
    }
    static func searchOfLink(_ name: String, target: String) -> Misuse {
        Misuse(
            "'\(name)' is a link, and #Search holds attributes of text: write '#Search<\(target)>' in '\(target)', and "
                + "search there")
    }
    static func searchOfOtherType(_ name: String, _ type: String) -> Misuse {
        Misuse("'\(name)' is of type \(type), and only text is searched: name attributes of type String or String?")
    }
    static func repeatedSearch(model: String) -> Misuse {
        Misuse("'\(model)' has two #Search: put all attributes into the first one")
    }
    static func notAKeyPath(_ place: String, model: String) -> Misuse {
        Misuse("\(place) needs a key path literal to one property, such as '\\\(model).name'")
    }

    // MARK: Links

    static func constantLink(_ name: String) -> Misuse {
        Misuse("'\(name)' must be 'var': a link is filled by loading and changed by edits")
    }
    static func optionalLink(_ name: String, _ kind: String) -> Misuse {
        Misuse(
            "'\(name)' can't be optional, because a \(kind) is a view that is loaded or not, and may be empty: remove the '?'"
        )
    }
    static func linkInside(_ name: String, _ target: String) -> Misuse {
        Misuse("'\(name)' can't hold links inside another type: write 'ToMany<\(target)>'")
    }
    static func hasOneWithoutInverse(_ name: String, _ target: String) -> Misuse {
        Misuse(
            "'\(name)' is the view of a to-one of \(target): name it with "
                + "@Relationship(inverse: \\\(target).property)")
    }
    static func throughWithoutPath(_ name: String, _ model: String, _ target: String) -> Misuse {
        Misuse(
            "'\(name)' goes through a join model: name the path to \(target) with "
                + "@Relationship(through: \\\(model).toMany, \\JoinModel.toOne)")
    }
    static func throughNoToMany(_ name: String, _ path: String) -> Misuse {
        Misuse(
            "'\(name)' must go through a ToMany of this model that has an 'inverse:', and '\(path)' isn't one: name the "
                + "one that holds the objects of the join model")
    }
    static func keyPathOfOtherType(_ name: String, _ found: String?, expected: String) -> Misuse {
        Misuse(
            "'\(name)' needs a key path that starts from \(expected)"
                + (found.map { ", not from \($0)" } ?? "") + ": write '\\\(expected).…'")
    }
    static func misplacedArgument(_ name: String, _ label: String, _ kind: Link.Kind, isView: Bool) -> Misuse {
        Misuse("'\(label):' has no effect on '\(name)': " + explanation(of: label, kind, isView: isView))
    }
    static func nullifyRequired(_ name: String) -> Misuse {
        Misuse("'\(name)' is required and can't be unset: write '.deny' or '.cascade', or make the link optional")
    }
    static func danglingJoin(_ name: String) -> Misuse {
        Misuse("'\(name)' is a many-to-many, whose join rows are always deleted with their objects: write '.nullify'")
    }
    static func impossibleCounts(_ name: String, _ minimum: Int, _ maximum: Int) -> Misuse {
        Misuse("'\(name)' can't hold at least \(minimum) and at most \(maximum): make the minimum the smaller one")
    }
    static func pointlessCount(_ name: String, _ label: String, _ count: Int) -> Misuse {
        Misuse("'\(name)' can't have \(count) as its \(label): write a count, or remove '\(label):'")
    }
    static func orderedTwice(_ name: String) -> Misuse {
        Misuse("'\(name)' is ordered either by an attribute with 'order:' or by the store with 'ordered:': keep one")
    }
    static func computedOrder(_ name: String) -> Misuse {
        Misuse("Whether '\(name)' is ordered must be known to @Model: write 'true' or 'false'")
    }
    static func orderWithoutInverse(_ name: String, _ target: String) -> Misuse {
        Misuse(
            "'\(name)' is a many-to-many, so no attribute of \(target) can order it: write 'ordered: true', or give the "
                + "'inverse:' that makes it a one-to-many")
    }

    /// The right place for an argument on the wrong link.
    private static func explanation(of label: String, _ kind: Link.Kind, isView: Bool) -> String {
        switch label {
        case "inverse" where kind == .toOne:
            "a to-one holds the key itself. Write the inverse on the other side's HasOne or ToMany, which is the view"
        case "onTargetDelete": "only a to-one has one target. Write it on the to-one, or use 'deleteRule:'"
        case "removeRule":
            kind == .toMany
                ? "an object of a many-to-many isn't owned by it, so taking it out deletes nothing"
                : "nothing is taken out of it. Write it on the other side's HasOne or ToMany, which is the view"
        case "deleteRule": "it is a path through another link. Write the rule on that one"
        case "minimum", "maximum":
            kind == .toOne
                ? "a to-one counts one, or none if it is optional" : "only a ToMany is counted"
        case "ordered", "order": "only a ToMany is ordered"
        case "columns": "only a to-one has columns. Write them on the to-one"
        case "joinTable", "joinColumns":
            isView && kind == .toMany
                ? "it is a view. Write it on the side without 'inverse:'" : "only a many-to-many has a join table"
        case "originalName" where isView: "a view isn't stored, so it can be renamed freely"
        case "through": "only a Through goes through a join model. Make its type 'Through', or remove it"
        default: "it has no meaning for a \(kind.rawValue)"
        }
    }
}
