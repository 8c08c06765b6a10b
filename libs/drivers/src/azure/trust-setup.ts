import { quoted, unless, writing, type TrustSetup } from '../trust-setup';

/**
 * The commands that make an app trust the organization's issuer for one credential, and let the app change rules.
 * @param policy the custom role, with `<subscription>` where its id belongs
 */
export function trustSetup({ issuer, subject, hints, scope: group }: TrustSetup, policy: string): string {
  const { clientId: app = 'APP_ID', subscriptionId: subscription = 'SUBSCRIPTION' } = hints;
  const trust = {
    name: `drawbridge-${subject.split(':').at(-1)}`,
    issuer,
    subject,
    audiences: ['api://AzureADTokenExchange'],
  };
  const path =
    group === undefined
      ? `/subscriptions/${subscription}`
      : `/providers/Microsoft.Management/managementGroups/${group}`;
  const scope = quoted(path);
  // a tenant takes a role's name once, whatever subscriptions the role is for
  const role = quoted(`Drawbridge ${group ?? subscription}`);
  const definition = policy
    .replaceAll('/subscriptions/<subscription>', () => path)
    .replaceAll('<subscription>', () => group ?? subscription);
  return `# a trust for this credential
${unless(
  `az ad app federated-credential show --id ${quoted(app)} --federated-credential-id ${quoted(trust.name)}`,
  `az ad app federated-credential create --id ${quoted(app)} --parameters ${quoted(JSON.stringify(trust))}`,
)}

# once for ${group === undefined ? 'each subscription' : 'the management group: a role is for one; subscriptions that come later are in it'}
${writing('role.json', definition)}
${unless(
  `az role definition list --name ${role} --scope ${scope} --query '[].id' --output tsv | grep .`,
  'az role definition create --role-definition @role.json',
)}
az role assignment create --assignee ${quoted(app)} --role ${role} --scope ${scope}
`;
}
