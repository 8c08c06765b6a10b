import {
  BadRequestException,
  ForbiddenException,
  Logger,
  NotFoundException,
  UnauthorizedException,
} from '@nestjs/common';
import express, { type Express } from 'express';
import request from 'supertest';
import { ScopeError } from '#guards';
import { badRequest, conflict, notFound, tooManyRequests, unprocessable } from '../errors';
import { sendErrorResponse } from './send-error-response';

/** An application in which every request fails with the given error. */
const failing = (thrown: unknown): Express =>
  express().use((incoming, response) => sendErrorResponse(thrown, incoming, response));

const coded = (code: string | undefined): Error & { code?: string } =>
  Object.assign(new Error('internal message'), code === undefined ? {} : { code });

const wrapped = (code: string): Error =>
  Object.assign(new Error('query failed'), { driverError: coded(code) });

const fieldsOf = (body: unknown): Record<string, unknown> => ({
  ...(typeof body === 'object' ? body : null),
});

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('sendErrorResponse', () => {
  const logged: unknown[] = [];

  beforeEach(() => {
    logged.length = 0;
    vi.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => logged.push(line));
  });
  afterEach(() => vi.restoreAllMocks());

  it.each([
    ['/sessions', badRequest('wrong', { durationHours: 'must be at least 1' })],
    ['/resource-health/events', new UnauthorizedException('who?')],
    ['/organization', notFound('gone', 'IGNORED_HERE')],
    ['/organization/billing', conflict('twice')],
    ['/resourcesX', new ForbiddenException('no')],
    ['/users/1', new Error('boom')],
  ])('sends the generic body on %s', async (path, thrown) => {
    const response = await request(failing(thrown)).get(`/api/v1${path}?secret=1`);
    const { timestamp, ...rest } = fieldsOf(response.body);
    expect(timestamp).toMatch(TIMESTAMP);
    expect(Object.keys(rest).filter((key) => key !== 'validationErrors')).toEqual([
      'status',
      'error',
      'message',
      'path',
    ]);
    expect(rest).toMatchObject({ status: response.status, path: `/api/v1${path}` });
    expect('validationErrors' in rest).toBe(response.status === 400);
  });

  it.each([
    ['/resources', badRequest('wrong', { name: 'must not be blank' }), 400, 'VALIDATION_ERROR'],
    ['/RESOURCES/1', new BadRequestException('wrong'), 400, 'VALIDATION_ERROR'],
    ['/credentials/1/verify', new UnauthorizedException(), 401, 'UNAUTHORIZED'],
    ['/resources/1', notFound('gone', 'RESOURCE_NOT_FOUND'), 404, 'RESOURCE_NOT_FOUND'],
    ['/resources/1/x', notFound('gone'), 404, 'NOT_FOUND'],
    ['/resources', new Error('boom'), 500, 'INTERNAL_ERROR'],
    ['/resources', coded('ECONNREFUSED'), 503, 'SERVICE_UNAVAILABLE'],
    ['/static-ip-rules', badRequest('wrong'), 400, 'BAD_REQUEST'],
    ['/static-ip-rules', unprocessable('empty'), 422, 'UNPROCESSABLE_ENTITY'],
    ['/organization/settings', new ForbiddenException('no'), 403, 'FORBIDDEN'],
    ['/billing/plans', tooManyRequests('slowly', 7), 429, 'RATE_LIMIT_EXCEEDED'],
    ['/billing', conflict('twice'), 409, 'CONFLICT'],
  ])('sends a code on %s: %p', async (path, thrown, status, code) => {
    const response = await request(failing(thrown)).get(`/api/v1${path}`);
    expect(response.status).toBe(status);
    const { error, timestamp, message, ...rest } = fieldsOf(response.body);
    expect(error).toBe(code);
    expect(timestamp).toMatch(TIMESTAMP);
    expect(typeof message).toBe('string');
    expect(rest).toEqual({});
  });

  it.each(['/sessions', '/resources', '/audit-logs'])(
    'reports a missing scope in two fields on %s',
    async (path) => {
      const response = await request(failing(new ScopeError('audit:read'))).get(`/api/v1${path}`);
      expect(response.status).toBe(403);
      expect(response.body).toEqual({
        error: 'Insufficient permissions',
        message: 'API key does not have required scope: audit:read',
      });
    },
  );

  it.each([
    ['refused by the network', coded('ECONNREFUSED')],
    ['shut down under a query', wrapped('57P01')],
    ['out of connections', coded('53300')],
    ['refused at every address', Object.assign(new AggregateError([coded('ECONNREFUSED')]), {})],
    ['cut', new Error('Connection terminated unexpectedly')],
    [
      'cut in a transaction',
      new Error('Database connection provided by a query runner was already released, cannot …'),
    ],
    [
      'cut before a transaction was over',
      new Error('Query runner already released. Cannot run queries anymore.'),
    ],
    ['too slow', new Error('Query read timeout')],
    ['undecided between transactions', wrapped('40P01')],
  ])('sends 503 with Retry-After when the database is %s', async (_, thrown) => {
    const response = await request(failing(thrown)).get('/api/v1/sessions');
    expect(response.status).toBe(503);
    expect(response.headers['retry-after']).toBe('2');
    expect(response.body).toMatchObject({ status: 503, error: 'Service Unavailable' });
    expect(logged).toHaveLength(1);
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

  it('sends 400 for text that PostgreSQL cannot store', async () => {
    const response = await request(failing(wrapped('22021'))).get('/api/v1/sessions');
    expect(response.status).toBe(400);
    expect(logged).toEqual([]);
  });

  it('sends Retry-After with 429 and WWW-Authenticate with 401', async () => {
    const limited = await request(failing(tooManyRequests('slowly', 7))).get('/api/v1/sessions');
    expect(limited.headers['retry-after']).toBe('7');
    const anonymous = await request(failing(new UnauthorizedException('who?'))).get('/api/v1/sessions');
    expect(anonymous.headers['www-authenticate']).toBe('Bearer');
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

  it('replaces the framework’s message for an unknown route', async () => {
    const response = await request(failing(new NotFoundException('Cannot GET /api/v1/x'))).get('/api/v1/x');
    expect(response.body).toMatchObject({ message: 'There is no such endpoint' });
  });
});
