/** The clouds, by the names Drawbridge's API gives them. */
export type ProviderName = 'AWS' | 'GCP' | 'AZURE' | 'APISIX' | 'VERCEL' | 'ATLAS';
