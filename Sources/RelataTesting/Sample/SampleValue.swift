/// A type that makes its own values for samples.
///
/// `insertSample` makes values of most types by itself. Conform those it can't, such as an enum that isn't
/// `CaseIterable`, or those whose values should mean something:
///
/// ```swift
/// extension PostalAddress: SampleValue {
///     static func sample(_ random: inout SampleRandom) -> PostalAddress {
///         PostalAddress(street: random.words(2), city: "Springfield")
///     }
/// }
/// ```
public protocol SampleValue {
    /// A value that follows from the random numbers.
    static func sample(_ random: inout SampleRandom) -> Self
}
