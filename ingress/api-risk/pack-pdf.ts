import { pendingPackAnswer } from '#shared/risk/operations/packs.ts'
import { Answer } from '#shared/tenancy/idempotency/answer.ts'
import { packPdf, pdfHeaders } from '../pack-pdf.ts'
import { problemResponses } from '../problem-responses.ts'
import { withScope } from './access.ts'
import { PendingPackSchema } from './packs/read-packs.ts'
import { idParam } from './path-params.ts'
import { read } from './risk-route.ts'

export const packPdfRoute = read({
  path: '/v1/po/risk-signals/packs/{packId}/pdf',
  operationId: 'getPackPdf',
  summary: 'Get a pack as PDF',
  description:
    'The first request after the log includes the pack creates the file; later requests return the same bytes. The SHA-256 of the file is anchored: `Repr-Digest` has the hash, and the link `describedby` its anchor.',
  tags: ['Risk signals'],
  access: withScope('risk-signals:read'),
  params: {
    packId: idParam('packId of the pack'),
  },
  responses: {
    200: {
      description: 'The document',
      content: { 'application/pdf': null },
      headers: { 'Repr-Digest': 'SHA-256 of the file (RFC 9530)', Link: 'anchor of that hash, rel="describedby"' },
    },
    202: {
      description: 'The pack is being composed or not in the log yet',
      content: { 'application/json': PendingPackSchema },
      headers: { 'Retry-After': 'seconds' },
    },
    ...problemResponses(401, 403, 404, 429, 500, 503),
  },
  async handle({ caller, params: { packId }, deps }) {
    const pdf = await packPdf(deps, caller, packId)
    if (!pdf) return pendingPackAnswer(packId)
    const anchor = `</v1/anchors/${pdf.txId.toString('hex')}>; rel="describedby"`
    return new Answer(200, pdf.bytes, { ...pdfHeaders(packId, pdf), Link: anchor })
  },
})
