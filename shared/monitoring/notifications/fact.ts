/** A line of a message: what it is, and its value; one without a value is left out. */
export interface Fact {
  label: string
  value: string
}
