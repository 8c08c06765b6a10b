/** What people may want no mail about; everything else is mailed to all whom it concerns. */
export const NOTICE_SWITCHES = [
  'sessionExpiring',
  'sessionStopped',
  'resourceHealth',
  'agentAway',
  'trustRefused',
  'keyExpiring',
] as const;
export type NoticeSwitch = (typeof NOTICE_SWITCHES)[number];
