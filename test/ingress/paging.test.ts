import test from 'ava'
import { paged } from '../../ingress/paging.ts'

const idOf = ({ id }: { id: number }) => id
const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ id: index + 1 }))

test('a full page with a row beyond it names its last row, not the one beyond', (t) => {
  t.deepEqual(paged(rows(3), 2, idOf), { page: rows(2), nextCursor: 2 })
})

test('a full page without a row beyond it is the last', (t) => {
  t.deepEqual(paged(rows(2), 2, idOf), { page: rows(2), nextCursor: null })
})

test('a list without rows is one empty page', (t) => {
  t.deepEqual(paged([], 2, idOf), { page: [], nextCursor: null })
})
