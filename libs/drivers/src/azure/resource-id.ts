import type { ResourceTypeFacts } from '../provider-facts';

const GROUP = String.raw`[\w().-]{0,89}[\w()-]`;
const NAME = String.raw`[a-z0-9](?:[\w.-]{0,78}\w)?`;
const SUBSCRIPTION = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The name of a resource. Azure names are case-insensitive. */
export interface ResourceName {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly name: string;
  /** `Microsoft.KeyVault/vaults` */
  readonly armType: string;
}

const fullId = (armType: string): string =>
  `/subscriptions/(${SUBSCRIPTION})/resourceGroups/(${GROUP})/providers/${armType.replaceAll('.', '\\.')}/(${NAME})`;

/** Parses a full resource id. @returns null when the text is not one of this type */
export function parseResourceId(id: string, armType: string): ResourceName | null {
  const [, subscriptionId, resourceGroup, name] = new RegExp(`^${fullId(armType)}$`, 'i').exec(id) ?? [];
  return subscriptionId && resourceGroup && name ? { subscriptionId, resourceGroup, name, armType } : null;
}

/** How resources of a type are named: by their full id, or by resource group and name in the credential's subscription. */
export function namingOf(
  resourceType: string,
  armType: string,
  noun: string,
  example: string,
): Pick<ResourceTypeFacts, 'identifier' | 'accountOf' | 'nameTarget'> {
  return {
    identifier: {
      pattern: new RegExp(`^(?:${GROUP}/${NAME}|${fullId(armType)})$`, 'i'),
      example,
      description: `the resource group and the name of the ${noun}, or its full id`,
    },
    accountOf: (identifier) => /^\/subscriptions\/([^/]+)\//i.exec(identifier)?.[1]?.toLowerCase(),
    // The canonical identifier: the full resource id in lower case.
    nameTarget: ({ identifier, hints }) => {
      const given = identifier.toLowerCase();
      const [resourceGroup, name] = given.split('/');
      const id = given.startsWith('/')
        ? given
        : `/subscriptions/${hints.subscriptionId?.toLowerCase() ?? ''}/resourcegroups/${resourceGroup}` +
          `/providers/${armType.toLowerCase()}/${name}`;
      return { key: `AZURE:${resourceType.toLowerCase().replaceAll('_', '-')}:${id}`, identifier: id };
    },
  };
}

/** A custom role, with `<subscription>` where its id belongs. */
export const rolePolicy = (actions: readonly string[]): string => `{
  "Name": "Drawbridge <subscription>",
  "Description": "Lets addresses in and takes them out again",
  "AssignableScopes": ["/subscriptions/<subscription>"],
  "Actions": [
${actions.map((action) => `    "${action}"`).join(',\n')}
  ],
  "NotActions": []
}
`;

/** One role with the actions of several. */
export const joinRoles = (policies: readonly string[]): string => {
  const actions = policies.flatMap((policy) => (JSON.parse(policy) as { Actions: string[] }).Actions);
  return rolePolicy([...new Set(actions)].toSorted());
};
