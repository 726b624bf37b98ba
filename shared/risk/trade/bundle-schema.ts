import { z } from 'zod'

export const BundleSchema = z
  .strictObject({
    mediaType: z.string(),
    envelope: z.object({
      payload: z.string(),
      payloadType: z.string(),
      signatures: z.array(z.object({ keyid: z.string().optional(), sig: z.string() })),
    }),
    keys: z.array(z.record(z.string(), z.unknown())),
    record: z.record(z.string(), z.unknown()),
    proof: z.string().nullable(),
  })
  .meta({ id: 'TradeBundle' })
