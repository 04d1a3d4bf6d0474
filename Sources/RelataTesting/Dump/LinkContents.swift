import Relata

/// The content of an object's link, without its type.
enum LinkContents {
    /// A to-one that is unset.
    case unset
    /// A to-one. The object is `nil` if it isn't loaded, or is missing.
    case reference(ObjectName?, object: (any Model)?, isMissing: Bool)
    /// A has-one; `nil` if it isn't loaded.
    case partner((any Model)??, hasEdits: Bool)
    /// A to-many or through link; `nil` if it isn't loaded.
    case list([any Model]?, hasEdits: Bool)

    /// The name of an object, with the types of its key's parts.
    struct ObjectName {
        let entity: String
        let key: KeyValue
        let types: [AttributeType]
    }
}

/// A property that is a link.
protocol DumpableLink {
    /// The number of columns of the object's row it takes.
    static var columnCount: Int { get }
    /// The content of the link.
    var contents: LinkContents { get throws }
}

extension ToOne: DumpableLink {
    static var columnCount: Int { Target.keyTypes.count }

    var contents: LinkContents {
        get throws {
            guard id != nil || isLoaded else { return .unset }
            let name = try id.map {
                LinkContents.ObjectName(
                    entity: Target.entityName, key: try Target.dumpKey($0), types: Target.keyTypes)
            }
            return .reference(name, object: loaded, isMissing: isLoaded && loaded == nil)
        }
    }
}

extension Optional: DumpableLink where Wrapped: DumpableLink {
    static var columnCount: Int { Wrapped.columnCount }
    var contents: LinkContents { get throws { try self?.contents ?? .unset } }
}

extension HasOne: DumpableLink {
    static var columnCount: Int { 0 }
    var contents: LinkContents { .partner(isLoaded ? .some(loaded) : nil, hasEdits: hasEdits) }
}

extension ToMany: DumpableLink {
    static var columnCount: Int { 0 }
    var contents: LinkContents { .list(loaded, hasEdits: hasEdits) }
}

extension Through: DumpableLink {
    static var columnCount: Int { 0 }
    var contents: LinkContents { .list(loaded, hasEdits: false) }
}
