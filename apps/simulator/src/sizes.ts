/** How large and how fast the simulated clouds are, unless set otherwise. */
export const DEFAULT_SIZES = {
  /** delay before every provider call is handled, ms */
  latencyMs: 0,
  /** security groups of AWS */
  groups: 10,
  /** inbound rules a security group may have for IPv4, and as many again for IPv6 */
  rulesPerGroup: 60,
  /** entries an AWS prefix list may have */
  entriesPerList: 60,
  /** how long AWS takes to apply an accepted change of a prefix list, ms */
  listChangeMs: 50,
  /** addresses an IP set of AWS WAF may have */
  wafAddresses: 10_000,
  /** changes of IP sets per second, account and region */
  wafWritesPerSecond: 1,
  /** ranges the endpoint of an EKS cluster may list */
  eksCidrs: 40,
  /** how long EKS takes to apply an accepted update, ms */
  eksUpdateMs: 0,
  /** token bucket of EC2 writes, per account and region */
  writeBurst: 50,
  writeRefillPerSecond: 5,
  /** the same for reads */
  readBurst: 100,
  readRefillPerSecond: 20,
  /** firewall rules the Google project may have */
  firewallsPerProject: 100,
  /** how long Compute takes to apply an accepted write, ms */
  gcpOperationMs: 50,
  /** rules an Azure network security group may have */
  azureRulesPerGroup: 1000,
  /** rules that each other service of Azure may have; 0: as many as the real one */
  azureServiceRules: 0,
  /** how long Azure takes to apply an accepted change, ms */
  azureOperationMs: 50,
  /** the same for database servers; 0: as long */
  azureServerMs: 0,
  /** changes of an Azure subscription at once: the resource manager allows a thousand in five minutes */
  azureWriteBurst: 1000,
  /** addresses that the firewall of a Vercel project may list */
  vercelAddresses: 4875,
  /** entries that the access list of a project of Atlas may have */
  atlasEntries: 200,
  /** how long Atlas takes to answer a change, and to apply what it has accepted, ms */
  atlasWriteMs: 0,
  atlasPendingMs: 0,
};

export type Sizes = Readonly<typeof DEFAULT_SIZES>;
