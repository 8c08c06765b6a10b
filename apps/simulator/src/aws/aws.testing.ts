import { EC2Client } from '@aws-sdk/client-ec2';

export const KEYS = { accessKeyId: 'AKIASIMULATED0000001', secretAccessKey: 'simulated-secret-access-key' };

/** The SDK's client, which sends each call once. @param url of a simulator */
export const ec2ClientOf = (url: string, region = 'eu-west-1'): EC2Client =>
  new EC2Client({ region, endpoint: `${url}/aws/ec2`, maxAttempts: 1, credentials: KEYS });
