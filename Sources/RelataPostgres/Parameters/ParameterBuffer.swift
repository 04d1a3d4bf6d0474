#if PostgreSQL
import Foundation
import RelataCore

/// Collects values in the binary form of PostgreSQL's types: bound values of a prepared statement, or rows that are
/// copied into a table.
///
/// All values are in one piece of memory, each after its length, and the memory is used again for the next statement.
@usableFromInline
package final class ParameterBuffer {
    // The user of the session is the only user of the buffer, and each value would cost a check.
    @exclusivity(unchecked) @usableFromInline var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) @usableFromInline var capacity: Int
    /// The number of used bytes.
    @exclusivity(unchecked) @usableFromInline package internal(set) var size = 0
    @exclusivity(unchecked) @usableFromInline var types: UnsafePointer<TypeCode>
    @exclusivity(unchecked) @usableFromInline var typeCount = 0
    /// The number of values given.
    @exclusivity(unchecked) @usableFromInline package internal(set) var count = 0
    /// The start of each value, in libpq's form; `nil` for `NULL`.
    @exclusivity(unchecked) @usableFromInline var pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
    @exclusivity(unchecked) @usableFromInline var lengths: UnsafeMutablePointer<Int32>
    /// 1 for a value in binary form, 0 for text that ends with a zero.
    @exclusivity(unchecked) @usableFromInline var formats: UnsafeMutablePointer<Int32>
    private var places = 0
    /// The start of the copied row.
    var rowStart = 0
    /// Keeps the address of the types valid.
    private var owner: AnyObject?
    /// Whether values come in any order, so that all positions count.
    private var isByNumber = false
    /// Whether rows are collected to be copied: all of it must be in binary form.
    private(set) var isCopying = false

    /// An empty buffer, which accepts nothing before ``begin(_:)``.
    package init(capacity: Int = 1024) {
        self.capacity = max(64, capacity)
        base = .allocate(byteCount: self.capacity, alignment: 8)
        lengths = .allocate(capacity: 1)
        formats = .allocate(capacity: 1)
        pointers = .allocate(capacity: 1)
        types = UnsafePointer(bitPattern: MemoryLayout<TypeCode>.alignment)!  // Never read: there are no types.
    }

    deinit {
        base.deallocate()
        freePlaces()
    }

    private func freePlaces() {
        lengths.deallocate()
        formats.deallocate()
        pointers.deallocate()
    }

    /// Starts to receive the parameters of a statement, from `$1` on.
    package func begin(_ statement: PreparedStatement) {
        isCopying = false
        isByNumber = false
        size = 0
        begin(UnsafePointer(statement.parameterTypes), statement.parameters.count, owner: statement)
    }

    /// Starts to receive rows of copied columns.
    func beginCopying(_ columns: UnsafePointer<TypeCode>, _ count: Int, owner: AnyObject) {
        isCopying = true
        isByNumber = false
        size = 0
        begin(columns, count, owner: owner)
    }

    /// Starts a list, each element of which ``beginElement()`` announces.
    ///
    /// - Parameter headerSize: The number of bytes left free in front of them.
    func beginList(_ type: UnsafePointer<TypeCode>, headerSize: Int) {
        isCopying = true
        isByNumber = false
        begin(type, 1, owner: nil)
        size = headerSize
    }

    /// The next value is another element.
    @inline(__always)
    func beginElement() { count = 0 }

    /// Writes the header of an array into the bytes that were left free.
    func writeArrayHeader(count: Int32) {
        // One dimension, a flag for unset elements, their type, their number, and the number of the first.
        for (index, number) in [1, 1, Int32(bitPattern: types[0].oid), count, 1].enumerated() {
            base.storeBytes(of: number.bigEndian, toByteOffset: index * 4, as: Int32.self)
        }
    }

    private func begin(_ types: UnsafePointer<TypeCode>, _ typeCount: Int, owner: AnyObject?) {
        count = 0
        self.types = types
        self.typeCount = typeCount
        if self.owner !== owner { self.owner = owner }
        guard typeCount > places else { return }
        freePlaces()
        places = typeCount
        lengths = .allocate(capacity: places)
        formats = .allocate(capacity: places)
        pointers = .allocate(capacity: places)
    }

    // MARK: Taking values

    /// Takes an integer.
    @inlinable
    package func append(_ value: Int64) throws(RelataError) {
        if hasRoom(12) {
            let kind = types[count].kind
            if kind == .int8 { return store(eightBytes: UInt64(bitPattern: value)) }
            if kind == .timestamp {
                let (moved, overflow) = value.subtractingReportingOverflow(946_684_800_000_000)
                if !overflow, moved != .min { return store(eightBytes: UInt64(bitPattern: moved)) }
            }
        }
        try appendConverted { (type) throws(RelataError) in try write(value, as: type) }
    }

    /// Takes a number.
    @inlinable
    package func append(_ value: Double) throws(RelataError) {
        if hasRoom(12), types[count].kind == .float8 { return store(eightBytes: value.bitPattern) }
        try appendConverted { (type) throws(RelataError) in try write(value, as: type) }
    }

    /// Takes text.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if it contains U+0000, which PostgreSQL's text can't, or doesn't spell
    ///   a value of the parameter's type.
    @inlinable
    package func append(_ value: String) throws(RelataError) {
        if count < typeCount, types[count].kind == .text {
            let isStored = value.utf8.withContiguousStorageIfAvailable { store(text: $0) }
            if isStored == true { return }
        }
        try appendConverted(text: value)
    }

    /// Takes bytes.
    @inlinable
    package func append(_ value: Data) throws(RelataError) {
        try appendConverted { (type) throws(RelataError) in try write(value, as: type) }
    }

    /// Takes a UUID.
    @inlinable
    package func append(_ value: UUID) throws(RelataError) {
        if hasRoom(20), types[count].kind == .uuid {
            let place = base + size
            place.storeBytes(of: Int32(16).bigEndian, as: Int32.self)
            (place + 4).storeBytes(of: value.uuid, as: uuid_t.self)
            return note(place + 4, length: 16)
        }
        try appendConverted { (type) throws(RelataError) in try write(value, as: type) }
    }

    /// Takes `NULL`.
    @inlinable
    package func appendNull() throws(RelataError) {
        _ = try nextType()
        reserve(4)
        store(Int32(-1))
        pointers[count] = nil
        lengths[count] = 0
        formats[count] = 1
        count += 1
    }

    /// Takes a stored value.
    package func append(_ value: Value) throws(RelataError) {
        switch value {
        case .null: try appendNull()
        case .integer(let value): try append(value)
        case .real(let value): try append(value)
        case .text(let value): try append(value)
        case .blob(let value): try append(value)
        case .uuid(let value): try append(value)
        }
    }

    /// Takes a statement's value for a parameter.
    package func append(_ parameter: Parameter) throws(RelataError) {
        switch parameter {
        case .value(let value): try append(value)
        case .list(let values): try append(list: values)
        case .keys(let keys): try append(keys: keys)
        }
    }

    // MARK: Ways of common types

    /// Whether another parameter remains, and memory for its value.
    @inlinable @inline(__always)
    func hasRoom(_ bytes: Int) -> Bool { count < typeCount && capacity - size >= bytes }

    @inlinable @inline(__always)
    func store(eightBytes value: UInt64) {
        let place = base + size
        place.storeBytes(of: Int32(8).bigEndian, as: Int32.self)
        (place + 4).storeBytes(of: value.bigEndian, as: UInt64.self)
        note(place + 4, length: 8)
    }

    /// Whether text was stored: it may need more memory, or hold U+0000.
    @inlinable @inline(__always)
    func store(text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let source = text.baseAddress, text.count <= capacity - size - 4,
            memchr(source, 0, text.count) == nil
        else { return false }
        let place = base + size
        place.storeBytes(of: Int32(truncatingIfNeeded: text.count).bigEndian, as: Int32.self)
        (place + 4).copyMemory(from: source, byteCount: text.count)
        note(place + 4, length: text.count)
        return true
    }

    /// Notes a value in binary form behind the bytes in use, which end with it from now on.
    @inlinable @inline(__always)
    func note(_ value: UnsafeMutableRawPointer, length: Int) {
        let index = count
        pointers[index] = UnsafePointer(value.assumingMemoryBound(to: CChar.self))
        lengths[index] = Int32(truncatingIfNeeded: length)
        formats[index] = 1
        size = value - base + length
        count = index + 1
    }

    /// Takes a value in any possible form of its type.
    @usableFromInline
    func appendConverted(_ write: (TypeCode) throws(RelataError) -> Void) throws(RelataError) {
        let start = size
        let type = try nextType()
        try encode(start) { () throws(RelataError) in try write(type) }
        finish(start)
    }

    @usableFromInline
    func appendConverted(text value: String) throws(RelataError) {
        let start = size
        let type = try nextType()
        if try encode(start, { () throws(RelataError) in try write(value, as: type) }) { return finish(start) }
        // The server reads the text itself, or reports the error.
        size = start
        try encode(start) { () throws(RelataError) in try write(text: value) }
        finishText(start)
    }

    // MARK: Memory

    /// The type of the next value.
    @inlinable @inline(__always)
    func nextType() throws(RelataError) -> TypeCode {
        if count >= typeCount { throw tooMany() }
        return types[count]
    }

    @usableFromInline
    func tooMany() -> RelataError {
        .invalidUse("more values were given than there are \(isCopying ? "columns" : "parameters"): \(typeCount)")
    }

    /// Reserves room for a number of bytes.
    @inlinable @inline(__always)
    func reserve(_ bytes: Int) { if capacity - size < bytes { grow(bytes) } }

    @usableFromInline
    func grow(_ bytes: Int) {
        let capacity = max(self.capacity * 2, size + bytes)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: base, byteCount: size)
        // Updates the addresses of copied values. Rows that were sent aren't needed any more.
        for index in 0..<(isCopying ? 0 : isByNumber ? typeCount : count) {
            if let pointer = pointers[index] {
                let offset = UnsafeRawPointer(pointer) - UnsafeRawPointer(base)
                pointers[index] = UnsafeRawPointer(larger + offset).assumingMemoryBound(to: CChar.self)
            }
        }
        base.deallocate()
        (base, self.capacity) = (larger, capacity)
    }

    /// Writes a number into existing room.
    @inlinable @inline(__always)
    func store<Number: FixedWidthInteger>(_ number: Number) {
        base.storeBytes(of: number.bigEndian, toByteOffset: size, as: Number.self)
        size += MemoryLayout<Number>.size
    }

    func write<Number: FixedWidthInteger>(_ number: Number) {
        reserve(MemoryLayout<Number>.size)
        store(number)
    }

    @usableFromInline
    func write(bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        if let source = bytes.baseAddress { (base + size).copyMemory(from: source, byteCount: bytes.count) }
        size += bytes.count
    }

    /// Runs code that writes a value, and removes the value if the code fails.
    @discardableResult
    func encode<Result>(_ start: Int, _ body: () throws(RelataError) -> Result) throws(RelataError) -> Result {
        do {
            return try body()
        } catch {
            size = start
            throw error
        }
    }

    /// Records the position of a value that begins with its length.
    func finish(_ start: Int) { note(base + start + 4, length: size - start - 4) }

    /// Records the position of a value in text form, which ends with a zero.
    func finishText(_ start: Int) {
        write(UInt8(0))
        note(base + start + 4, length: size - start - 4)
        formats[count - 1] = 0
    }

    // MARK: By number

    /// Starts again without values; from now on, values are set by number.
    func beginUnset(_ statement: PreparedStatement) {
        begin(statement)
        for index in 0..<typeCount { (pointers[index], lengths[index], formats[index]) = (nil, 0, 1) }
        count = typeCount
        isByNumber = true
    }

    /// Makes the next value replace the value of a parameter, from 0 on. Call ``endSetting()`` afterwards.
    @inline(__always)
    func setNext(_ index: Int) {
        // The value that was written last leaves its room.
        if let pointer = pointers[index] {
            let end = UnsafeRawPointer(pointer) - UnsafeRawPointer(base) + Int(lengths[index])
            if end == size { size = end - Int(lengths[index]) - 4 }
            pointers[index] = nil
        }
        formats[index] = 1
        count = index
    }

    /// All parameters have a value again, if only an unset one.
    @inline(__always)
    func endSetting() { count = typeCount }

    // MARK: Pointers for libpq

    /// Passes the values to `body` in libpq's form. They must not change in the call.
    func withPointers<Result>(
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>
        ) -> Result
    ) -> Result {
        body(pointers, lengths, formats)
    }

    /// Whether all values were given.
    func checkIsComplete() throws(RelataError) {
        guard count == typeCount else {
            throw .invalidUse(
                "\(count) values were given for \(typeCount) \(isCopying ? "columns" : "parameters")")
        }
    }
}
#endif
