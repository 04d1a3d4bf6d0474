/// A type that generates its own values for samples.
///
/// `insertSample` generates values of most types itself. Conform other types, such as an enum that isn't
/// `CaseIterable`, or types whose values should be meaningful:
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
