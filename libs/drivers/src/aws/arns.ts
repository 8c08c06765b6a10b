/** An IP set of AWS WAF. */
export interface IpSetName {
  readonly partition: string;
  /** that of its API: sets for CloudFront are in us-east-1 */
  readonly region: string;
  readonly scope: 'REGIONAL' | 'CLOUDFRONT';
  readonly name: string;
  readonly id: string;
}

const START = String.raw`arn:(aws(?:-[a-z]{1,10}){0,3}):`;
const REGION = String.raw`([a-z]{2,4}(?:-[a-z]{2,12}){1,3}-\d{1,2})`;
export const IP_SET_ARN = new RegExp(
  String.raw`^${START}wafv2:${REGION}:\d{12}:(regional|global)\/ipset\/([\w-]{1,128})\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`,
);
export const CLUSTER_ARN = new RegExp(
  String.raw`^${START}eks:${REGION}:\d{12}:cluster\/([0-9A-Za-z][\w-]{0,99})$`,
);

/** @returns null when it is no ARN of an IP set */
export function parseIpSet(arn: string): IpSetName | null {
  const [, partition, region, kind, name, id] = IP_SET_ARN.exec(arn) ?? [];
  if (!partition || !region || !name || !id) return null;
  const isGlobal = kind === 'global';
  return {
    partition,
    region: isGlobal ? 'us-east-1' : region,
    scope: isGlobal ? 'CLOUDFRONT' : 'REGIONAL',
    name,
    id,
  };
}

export interface ClusterName {
  readonly partition: string;
  readonly region: string;
  readonly name: string;
}

/** @returns null when it is no ARN of a cluster */
export function parseCluster(arn: string): ClusterName | null {
  const [, partition, region, name] = CLUSTER_ARN.exec(arn) ?? [];
  return partition && region && name ? { partition, region, name } : null;
}
