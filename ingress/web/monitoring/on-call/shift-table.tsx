import type { Shift } from '#shared/monitoring/on-call/on-call.ts'
import { wallTimeText } from '#shared/monitoring/on-call/wall-time.ts'
import type { Micros } from '#shared/time.ts'
import { Table } from '../../lists/list.tsx'

export function ShiftTable(props: {
  shifts: readonly Shift[]
  nameOf: (address: string) => string
  tz: string
  label: string
  /** end of the listed time; shifts may continue after it */
  cutAt?: Micros
}) {
  const { shifts, nameOf, tz, cutAt } = props
  if (shifts.length === 0) return <p class="empty">No shifts.</p>
  return (
    <>
      <Table
        rows={shifts}
        label={props.label}
        columns={[
          { title: 'Person', cell: ({ person }) => nameOf(person) },
          { title: 'From', cell: ({ from }) => wallTimeText(from, tz) },
          { title: 'Until', cell: ({ until }) => `${wallTimeText(until, tz)}${until === cutAt ? ' or later' : ''}` },
        ]}
      />
      <p class="hint">Times in {tz}.</p>
    </>
  )
}
