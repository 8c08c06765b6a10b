import { Logger, UnauthorizedException } from '@nestjs/common';
import express, { type Express } from 'express';
import request from 'supertest';
import { notFound } from '../errors';
import { sendErrorResponse } from './send-error-response';

/** An application in which every request fails with the given error. */
const failing = (thrown: unknown): Express =>
  express().use((incoming, response) => sendErrorResponse(thrown, incoming, response));

const coded = (code: string): Error => Object.assign(new Error('internal message'), { code });

const wrapped = (code: string): Error =>
  Object.assign(new Error('query failed'), { driverError: coded(code) });

describe('sendErrorResponse', () => {
  const logged: unknown[] = [];

  beforeEach(() => {
    logged.length = 0;
    vi.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => logged.push(line));
  });
  afterEach(() => vi.restoreAllMocks());

  it.each([
    ['refused by the network', coded('ECONNREFUSED')],
    ['shut down under a query', wrapped('57P01')],
    ['out of connections', coded('53300')],
    ['refused at every address', Object.assign(new AggregateError([coded('ECONNREFUSED')]), {})],
    ['cut', new Error('Connection terminated unexpectedly')],
    [
      'cut in a transaction',
      new Error('Database connection provided by a query runner was already released'),
    ],
    ['cut before a transaction was over', new Error('Query runner already released.')],
    ['too slow', new Error('Query read timeout')],
    ['undecided between transactions', wrapped('40P01')],
  ])('sends 503 with Retry-After when the database is %s', async (_, thrown) => {
    const response = await request(failing(thrown)).get('/api/v1/sessions');
    expect(response.status).toBe(503);
    expect(response.headers['retry-after']).toBe('2');
    expect(response.body).toMatchObject({ status: 503, error: 'Service Unavailable' });
    expect(logged).toHaveLength(1);
  });

  it.each([
    ['/RESOURCES/1', 'INTERNAL_ERROR'],
    ['/resourcesX', 'Internal Server Error'],
  ])('sends on %s the error %s', async (path, error) => {
    const response = await request(failing(new Error('boom'))).get(`/api/v1${path}`);
    expect(response.body).toMatchObject({ error });
  });

  it('hides the message of an unexpected error, and keeps queries and values out of the log', async () => {
    const thrown = Object.assign(new Error('relation "users" does not exist'), {
      query: 'SELECT password_hash FROM users',
      parameters: ['canary-secret'],
      detail: 'canary-secret',
    });
    const response = await request(failing(thrown)).get('/api/v1/sessions');
    expect(response.status).toBe(500);
    expect(response.text).not.toMatch(/relation|SELECT|canary|at .*\.ts/);
    expect(JSON.stringify(logged)).toContain('relation');
    expect(JSON.stringify(logged)).not.toMatch(/canary|SELECT/);
  });

  it.each([['a string'], [null], [undefined]])('sends 500 when %p was thrown', async (thrown) => {
    const response = await request(failing(thrown)).get('/api/v1/sessions');
    expect(response.body).toMatchObject({ status: 500, message: 'An unexpected error occurred' });
  });

  it.each([notFound('gone'), new UnauthorizedException('who?'), new Error('boom')])(
    'lets no cache keep %s, even where the route allowed it for what it returns',
    async (thrown) => {
      const app = express().use((incoming, response) => {
        response.setHeader('Cache-Control', 'public, max-age=3600');
        sendErrorResponse(thrown, incoming, response);
      });
      const { headers } = await request(app).get('/oidc/1/jwks');
      expect(headers['cache-control']).toBe('no-store');
    },
  );
});
