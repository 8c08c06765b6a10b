import { quoted, unless, writing, type TrustSetup } from '../trust-setup';

/**
 * The commands that make a workload identity pool trust the organization's issuer for one credential, and let the
 * credential change rules.
 * @param policy the custom role
 */
export function trustSetup({ issuer, subject, hints }: TrustSetup, policy: string): string {
  const {
    project_id: project = 'PROJECT_ID',
    projectNumber: number = 'PROJECT_NUMBER',
    poolId: pool = 'POOL',
    providerId: provider = 'PROVIDER',
    serviceAccountEmail: email,
  } = hints;
  const principal = `principal://iam.googleapis.com/projects/${number}/locations/global/workloadIdentityPools/${pool}/subject/${subject}`;
  const inProject = `--project=${quoted(project)}`;
  const grant = `gcloud projects add-iam-policy-binding ${quoted(project)} --role=${quoted(`projects/${project}/roles/drawbridge`)}`;
  const grants = email
    ? `${grant} --member=${quoted(`serviceAccount:${email}`)}
gcloud iam service-accounts add-iam-policy-binding ${quoted(email)} ${inProject} \\
  --role=roles/iam.workloadIdentityUser --member=${quoted(principal)}`
    : `${grant} \\
  --member=${quoted(principal)}`;
  const inPool = `${inProject} --location=global`;
  const providerInPool = `${quoted(provider)} ${inPool} --workload-identity-pool=${quoted(pool)}`;
  return `# once for each project
gcloud services enable ${inProject} iam.googleapis.com sts.googleapis.com iamcredentials.googleapis.com \\
  cloudresourcemanager.googleapis.com compute.googleapis.com
${unless(
  `gcloud iam workload-identity-pools describe ${quoted(pool)} ${inPool}`,
  `gcloud iam workload-identity-pools create ${quoted(pool)} ${inPool}`,
)}
${writing('role.yaml', policy)}
${unless(
  `gcloud iam roles describe drawbridge ${inProject}`,
  `gcloud iam roles create drawbridge ${inProject} --file=role.yaml`,
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
