/** Shortens a hash, and adds the size of an amount in words. */
export function PackValue({ value }: { value: string }) {
  if (/^[0-9a-f]{64}$/.test(value)) {
    return (
      <span class="mono" title={value}>
        {value.slice(0, 12)}…
      </span>
    )
  }
  const [, amount, size] = /^(-?₹[0-9,.]+) (\([^)]+\))$/.exec(value) ?? []
  if (amount === undefined) return <>{value}</>
  return (
    <>
      {amount} <small class="together">{size}</small>
    </>
  )
}
