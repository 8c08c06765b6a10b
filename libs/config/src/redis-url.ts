import { ENCODED } from './server-urls';

const TEXT = '(?:[^\\s:@/?#%,]|%[0-9A-Fa-f]{2})';
const HOST = '(?:[^\\s:@/?#,[\\]]+|\\[[0-9A-Fa-f:.]+\\])(?::\\d{1,5})?';
const SENTINELS = new RegExp(
  `^redis\\+sentinel://(?:(?<user>${TEXT}*):(?<password>${TEXT}*)@)?(?<hosts>${HOST}(?:,${HOST})*)` +
    `/(?<master>[\\w.-]+)(?:/(?<db>\\d+))?(?:\\?sentinelPassword=(?<sentinelPassword>${TEXT}+))?$`,
);
const DEFAULT_SENTINEL_PORT = 26_379;

/** The form of `REDIS_URL`: one server, or sentinels that know which of several is the master. */
export const REDIS_URL = new RegExp(`^rediss?://[^\\s/?#]+(/\\d*)?$|${SENTINELS.source}`);
export const REDIS_URL_MESSAGE = `the address of a Redis, like redis://:password@host:6379, rediss://… for TLS, or redis+sentinel://:password@host1:26379,host2:26379/master, ${ENCODED}`;

/** What ioredis has to know of sentinels and the master behind them. */
export interface RedisSentinels {
  readonly sentinels: { readonly host: string; readonly port: number }[];
  /** of the master */
  readonly name: string;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly sentinelPassword?: string;
}

/** @returns null when the address is that of one server */
export function redisSentinels(url: string): RedisSentinels | null {
  const { user, password, hosts, master, db, sentinelPassword } = SENTINELS.exec(url)?.groups ?? {};
  if (hosts === undefined || master === undefined) return null;
  return {
    sentinels: hosts.split(',').map((host) => {
      const { hostname, port } = new URL(`redis://${host}`);
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || DEFAULT_SENTINEL_PORT) };
    }),
    name: master,
    ...(user ? { username: decodeURIComponent(user) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    ...(db === undefined ? {} : { db: Number(db) }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword: decodeURIComponent(sentinelPassword) }),
  };
}
