import type { PackBody } from '#shared/risk/packs/pack-schema.ts'
import type { PackPdfInput } from '#shared/risk/packs/pdf/render.ts'
import { anchorObject, PACK_EVENT_TYPE } from '#shared/transparency/anchoring/leaf.ts'
import { sandboxPack } from './demo-pack.ts'

const CHECKPOINT = `log.example/v1/transparency/sandbox\n57\n${'q'.repeat(43)}=\n\n— log.example/v1/transparency/sandbox ${'A'.repeat(92)}\n`

/** Composes a sandbox pack as input of the renderer. @param edit changes the pack before it is anchored */
export async function pdfInput(
  changes: Parameters<typeof sandboxPack>[0] = {},
  edit: (pack: PackBody) => PackBody = (pack) => pack,
): Promise<PackPdfInput> {
  const composed = await sandboxPack(changes)
  const pack = edit(composed.pack)
  const { anchor } = anchorObject(pack, { eventType: PACK_EVENT_TYPE, timestamp: pack.generatedAt })
  const { packId, generatedAt } = pack
  const { payloadSha256, txId } = anchor
  return {
    body: JSON.stringify({ ...pack, anchor }),
    evidence: JSON.stringify({ packId, generatedAt, payloadSha256, txId, evidence: composed.evidence }),
    env: 'SANDBOX',
    publicUrl: 'https://signalbox.example',
    proof: {
      state: 'INCLUDED',
      index: 41,
      treeSize: 57,
      checkpoint: CHECKPOINT,
      tlogProof: `c2sp.org/tlog-proof@v1\nindex 41\n\n${CHECKPOINT}`,
    },
  }
}
