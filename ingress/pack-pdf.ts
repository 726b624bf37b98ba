import { makePackPdf, type PackOwner } from '#shared/risk/operations/make-pack-pdf.ts'
import type { StoredPdf } from '#shared/risk/packs/pdf/store.ts'
import type { IngressDeps } from './deps.ts'

export function pdfHeaders(packId: string, { sha256 }: StoredPdf): Record<string, string> {
  return {
    'Content-Type': 'application/pdf',
    'Content-Disposition': `attachment; filename="risk-signals-pack-${packId.slice(0, 8)}.pdf"`,
    'Repr-Digest': `sha-256=:${sha256.toString('base64')}:`,
    'Cache-Control': 'no-store',
  }
}

/** @returns null while the document cannot be created @throws NotFoundError; PackFailedError */
export async function packPdf(deps: IngressDeps, owner: PackOwner, packId: string): Promise<StoredPdf | null> {
  const { db, config, now, threads } = deps
  return await makePackPdf(db, owner, packId, {
    publicUrl: config.publicUrl,
    now,
    render: (source) => threads.run('renderPackPdf', source),
  })
}
