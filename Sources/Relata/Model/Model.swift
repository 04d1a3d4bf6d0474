/// A struct whose objects are stored; written by ``Model(table:originalTable:)``.
public protocol Model: Hashable, Sendable {}
