import type { Route } from '../../route.ts'
import { consentRoutes } from './consents.ts'
import { issuerRoutes } from './issuers.ts'
import { passportRoutes } from './passports.ts'
import { presentationRoutes } from './presentations.ts'
import { sandboxCredentialRoute } from './sandbox-credentials.ts'
import { statusListRoutes } from './status-lists.ts'
import { subjectRoutes } from './subjects.ts'
import { verificationRoutes } from './verifications.ts'

export const identityRoutes: readonly Route[] = [
  ...subjectRoutes,
  ...verificationRoutes,
  ...passportRoutes,
  ...consentRoutes,
  ...presentationRoutes,
  ...issuerRoutes,
  ...statusListRoutes,
  sandboxCredentialRoute,
]
