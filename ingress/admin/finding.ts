/** One thing that doctor looked at. */
export interface Finding {
  what: string
  ok: boolean
  /** what was found, and how to mend it when it is not well */
  text: string
}
