import { redisSentinels, REDIS_URL } from './redis-url';

describe('REDIS_URL', () => {
  it('names sentinels, their master, its user, password and database', () => {
    const url =
      'redis+sentinel://:p%40ss@one:26380,10.0.0.2,[2001:db8::3]:26379/doors/2?sentinelPassword=other%3F';
    expect(url).toMatch(REDIS_URL);
    expect(redisSentinels(url)).toEqual({
      sentinels: [
        { host: 'one', port: 26_380 },
        { host: '10.0.0.2', port: 26_379 },
        { host: '2001:db8::3', port: 26_379 },
      ],
      name: 'doors',
      password: 'p@ss',
      db: 2,
      sentinelPassword: 'other?',
    });
  });

  it.each(['redis+sentinel://one,two', 'redis+sentinel://one,,two/doors', 'redis+sentinel://one:/doors/x'])(
    '%s is none',
    (url) => expect(url).not.toMatch(REDIS_URL),
  );

  it('of one server names no sentinels', () => {
    expect(redisSentinels('rediss://:secret@one:6379/1')).toBeNull();
  });
});
