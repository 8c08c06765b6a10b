import { quoted, unless, writing, type TrustSetup } from '../trust-setup';

/**
 * The commands that make a workload identity pool trust the organization's issuer for one credential, and let the
 * credential change rules.
 * @param policy the custom role
 */
export function trustSetup({ issuer, subject, hints, scope }: TrustSetup, policy: string): string {
  const {
    project_id: project = 'PROJECT_ID',
    projectNumber: number = 'PROJECT_NUMBER',
    poolId: pool = 'POOL',
    providerId: provider = 'PROVIDER',
    serviceAccountEmail: email,
  } = hints;
  const principal = `principal://iam.googleapis.com/projects/${number}/locations/global/workloadIdentityPools/${pool}/subject/${subject}`;
  const inProject = `--project=${quoted(project)}`;
  const [kind, id = ''] = scope?.split('/') ?? [];
  const organization = kind === 'organizations' ? id : 'ORGANIZATION_ID';
  const holder =
    scope === undefined
      ? `projects add-iam-policy-binding ${quoted(project)}`
      : kind === 'organizations'
        ? `organizations add-iam-policy-binding ${quoted(id)}`
        : `resource-manager folders add-iam-policy-binding ${quoted(id)}`;
  const roleIn = scope === undefined ? `projects/${project}` : `organizations/${organization}`;
  const inRoles = scope === undefined ? inProject : `--organization=${quoted(organization)}`;
  const grant = `gcloud ${holder} --role=${quoted(`${roleIn}/roles/drawbridge`)}`;
  const grants = email
    ? `${grant} --member=${quoted(`serviceAccount:${email}`)}
gcloud iam service-accounts add-iam-policy-binding ${quoted(email)} ${inProject} \\
  --role=roles/iam.workloadIdentityUser --member=${quoted(principal)}`
    : `${grant} \\
  --member=${quoted(principal)}`;
  const inPool = `${inProject} --location=global`;
  const providerInPool = `${quoted(provider)} ${inPool} --workload-identity-pool=${quoted(pool)}`;
  const note =
    organization === id || scope === undefined ? '' : ' ORGANIZATION_ID: gcloud organizations list names it';
  return `# once for each project that has a pool.${note}
gcloud services enable ${inProject} iam.googleapis.com sts.googleapis.com iamcredentials.googleapis.com \\
  cloudresourcemanager.googleapis.com compute.googleapis.com
${unless(
  `gcloud iam workload-identity-pools describe ${quoted(pool)} ${inPool}`,
  `gcloud iam workload-identity-pools create ${quoted(pool)} ${inPool}`,
)}
${writing('role.yaml', policy)}
${unless(
  `gcloud iam roles describe drawbridge ${inRoles}`,
  `gcloud iam roles create drawbridge ${inRoles} --file=role.yaml`,
)}

# a provider for this credential; one that exists keeps its issuer and condition
${unless(
  `gcloud iam workload-identity-pools providers describe ${providerInPool}`,
  `gcloud iam workload-identity-pools providers create-oidc ${providerInPool} \\
  --issuer-uri=${quoted(issuer)} --attribute-mapping=google.subject=assertion.sub \\
  --attribute-condition=${quoted(`assertion.sub=="${subject}"`)}`,
)}
${grants}
`;
}
