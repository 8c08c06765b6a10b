import { quoted, writing, type TrustSetup } from '../trust-setup';

/**
 * The commands that make an app trust the organization's issuer for one credential, and let the app change rules.
 * @param policy the custom role, with `<subscription>` where its id belongs
 */
export function trustSetup({ issuer, subject, hints }: TrustSetup, policy: string): string {
  const { clientId: app = 'APP_ID', subscriptionId: subscription = 'SUBSCRIPTION' } = hints;
  const trust = {
    name: `drawbridge-${subject.split(':').at(-1)}`,
    issuer,
    subject,
    audiences: ['api://AzureADTokenExchange'],
  };
  return `# a trust for this credential
az ad app federated-credential create --id ${quoted(app)} --parameters ${quoted(JSON.stringify(trust))}

# once for each subscription
${writing('role.json', policy.replace('<subscription>', subscription))}
az role definition create --role-definition @role.json
az role assignment create --assignee ${quoted(app)} --role Drawbridge --scope ${quoted(`/subscriptions/${subscription}`)}
`;
}
