/** An address in free text: up to a space, a quote or a bracket, without the punctuation of the sentence around it. */
const ADDRESS = /(https?:\/\/[^\s<>"'()[\]{}]*[^\s<>"'()[\]{}.,;:!?])/

/** Free text in which addresses are links; all else is shown as it was written. They lead away, and say nothing of where from. */
export function LinkedText({ text }: { text: string }) {
  return (
    <>
      {text.split(ADDRESS).map((part, index) =>
        // Every second part is what the pattern holds.
        index % 2 === 0 ? (
          part
        ) : (
          <a key={`${index}${part}`} href={part} rel="noopener noreferrer nofollow">
            {part}
          </a>
        ),
      )}
    </>
  )
}
