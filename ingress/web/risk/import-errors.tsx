import type { ColumnRule } from '#shared/risk/colending/imports/file-mapping.ts'
import type { Import } from '#shared/risk/colending/imports/import.ts'
import { sampleCells } from '#shared/risk/colending/imports/sample.ts'
import { ERRORS_SHOWN, type ImportView } from '#shared/risk/colending/imports/view.ts'
import { findFileMapping } from '#shared/risk/colending/mappings/registry.ts'
import { Table } from '../lists/list.tsx'

type ShownError = ImportView['errors'][number]

/** Shows the first errors, each with a valid cell and its effect. Further errors complete the last shown line. */
export function ImportErrors({ errors, found }: { errors: readonly ShownError[]; found: Import }) {
  const rejected = rejectedLines(errors, found)
  return (
    <Table
      label="Errors"
      variant="wide-table stacked"
      columns={[
        { title: 'Line', variant: 'figure', isLabelled: true, cell: ({ line }) => line },
        { title: 'Column', variant: 'mono breakable', isLabelled: true, cell: ({ column }) => column ?? '—' },
        { title: 'Error', cell: ({ message }) => message },
        { title: 'Valid, for example', variant: 'mono', isLabelled: true, cell: (error) => exampleFor(error, found) },
        {
          title: 'Effect',
          isLabelled: true,
          cell: ({ line }) =>
            rejected.has(line) ? <span class="pill bad">row rejected</span> : 'row accepted without this cell',
        },
      ]}
      rows={errors.slice(0, ERRORS_SHOWN)}
    />
  )
}

function ruleOf({ column }: ShownError, { mapping }: Import): ColumnRule | undefined {
  return findFileMapping(mapping ?? '')?.columns.find(({ from }) => from === column)
}

/** Returns the lines whose row is not stored: the whole record or a required cell is invalid. */
function rejectedLines(errors: readonly ShownError[], found: Import): ReadonlySet<number> {
  const isRejecting = (error: ShownError) => error.column === null || ruleOf(error, found)?.required === true
  return new Set(errors.filter(isRejecting).map(({ line }) => line))
}

function exampleFor(error: ShownError, found: Import): string {
  const rule = ruleOf(error, found)
  return (rule && sampleCells(rule)?.[0]) ?? '—'
}
