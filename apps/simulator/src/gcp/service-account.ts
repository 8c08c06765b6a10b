import { createPublicKey } from 'node:crypto';

export const PROJECT = 'simulated-project';
export const CLIENT_EMAIL = `simulated@${PROJECT}.iam.gserviceaccount.com`;

/** Not a secret: valid in the simulated cloud only. */
const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCQ/QiVhqfYP8V9
h6SGTr73bMTENjIzeUb7LLM1zoUwYjc7Hjfoh7shAQdinOhEq56VFytkygqe1sRU
cp4vqw0e+0pCDHti47jb6EXzirod84KQe6E/F+rUNYNMGijmqVPz6FwSJGPl4SXo
Lm3R3PgaSOV+eE/E2oGBcLE9YJR/VWTIFIAIUKoclBcXydOcVf20UB62NJIpg03a
Pntvs42tPjifnf/GJ2+Wi4lXVMoVfGvke1RTV9ha1LuspLyhL4LZADo3RcUD2mKS
SEEwoH7ZGxC6fwKKi0z8kor6W1qExYiTPTADmZOIW0KCmai+5h6j4IVdCyeF15Gd
wkAxeGB7AgMBAAECggEAAzFvakudkAeng8zkSgjwmmZiLFK9PEukIo1Td7s6olwn
YeftIfPgon4b+YdXHjFhZrXXQNBU94vnUFd4iw2LVm6rrf9fCvMqSRLj0inwpg7i
MJMTHrPvegj2VqC6Md+czQxbABNJF/D4yBTtr5Ixl0fvtfSpsmjVh/zsClwBfo8M
aBNQFK9crWuWGqdH0BGqkV7jSXfXFKA27KJcgik0vVcKJy/f6CFPG1Gy90KcirkO
etCdURKyBcEgxO3YEW2CxGC+yaNKmAumRezye72paGTfigEexEMurC3uqgMhzrDF
ZG8SqCOWsKSVVztwEioDhirCIekg78i60Hhb2fnegQKBgQDAx6IcBfZZnx/zlFJx
vs8NU6uep/hXvUrAoDK/PVr3P9fMvMurNvtZPW/PB/yZfQWXGbRpavQVdwSR5Lcn
sfuupFhZwzmqNByR//dUr43itvDrnK+EYUqGgVc6x6QGsRLCXi+1FRxpBKvJoScH
qu0ivnscE5VXkJZYwKIsqnFw2wKBgQDAiTAHEbSHsJtcs5U3LRR7uPMidfj3xKy/
cs/Rn+Qxd7n9/xPDHghk/NpJsGFUbG4aspRJFgew1j9WtDDN8HWoHr+sedPHcsID
2M9fjXZw9tZSP6E9lzrQw31/vgtudqfDRh2awtAlJv39WPkyeLO/cN/6X3dvi3we
wV2+NquQ4QKBgCC9RqCvuoi553k8hUvf9dXzkb/eEuUDtsBD9JpZ1ysKYqHYplYr
fkBHmMd2OcXvX5WrveHxUgabMeF9EEXjijS8oGyOJSrssrVw3RY6wkPwgbXh5ET9
KOTy7leDNC4WwHLWABAmx65mJq6VecVpl+BArTO1d7VpTr8/58riH2XlAoGAdsjs
0Z+xwnlKENJWv/jXB1He5ybjmHFFpsP9xTWhQoe8PyFNHvb7dNqvDgF8uuo+r8f3
RnQKAKbd4u8+oP+2hyeZV5698vIxEtCDeE89gIo5RfstzmLsDXpehh5IzTj1Xbt3
blC8u/8nelOXQvVG6FiKRtz5Qd9Lj2n7HOx7wuECgYEAnppq3VaJsIskn36NkfGh
sAGovfehgkN1QnQ1HooCDvCB/XWr5D9H3+XdPk2G4pfhHIZFqlsFIhCfsrO4Zmey
8BNQncUMwB4X+2UMDYqXfIP5r0+qncQa/CDwuCjTRT+Kdne2rNGtYLnGmXYb+mvk
sBRy+xGi0jI8aHUVgo7WPJ8=
-----END PRIVATE KEY-----
`;

export const PUBLIC_KEY = createPublicKey(PRIVATE_KEY);

/** The key file of the simulated service account, in Google's format. */
export const KEY_FILE = {
  type: 'service_account',
  project_id: PROJECT,
  private_key_id: '00000000000000000000000000000000simulated',
  private_key: PRIVATE_KEY,
  client_email: CLIENT_EMAIL,
  client_id: '100000000000000000001',
  auth_uri: 'https://accounts.google.com/o/oauth2/auth',
  token_uri: 'https://oauth2.googleapis.com/token',
  universe_domain: 'googleapis.com',
} as const;
