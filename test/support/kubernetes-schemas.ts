import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { Job } from 'kubernetes-models/batch/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Service } from 'kubernetes-models/v1'

const models = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  StatefulSet,
}
type Kind = keyof typeof models

const isModelled = (kind: unknown): kind is Kind => typeof kind === 'string' && Object.hasOwn(models, kind)

/**
 * Wraps a document so that `unread` lists its members that a validator did not read. The validators read each member
 * that the schema has, and ignore the others.
 */
function recordReads(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const wrapped: Record<string | symbol, unknown> | unknown[] = Array.isArray(value) ? [] : {}
  for (const [name, member] of Object.entries(value)) {
    const memberPath = `${path}.${name}`
    unread.add(memberPath)
    const copy = recordReads(member, memberPath, unread)
    const get = () => {
      unread.delete(memberPath)
      return copy
    }
    Object.defineProperty(wrapped, name, { enumerable: true, get })
  }
  return wrapped
}

/** Returns the errors of a document, unknown members included; null if it is valid. */
export function refusalOf(document: Record<string, unknown>): string | null {
  if (!isModelled(document.kind)) return `no schema for ${document.kind}`
  const unread = new Set<string>()
  try {
    models[document.kind].prototype.validate.call(recordReads(document, document.kind, unread))
    return unread.size === 0 ? null : `unknown: ${[...unread].join(', ')}`
  } catch (error) {
    return String(error)
  }
}
