export * from './api-error';
export { API_PREFIX, errorShapeOf } from './error-shape';
export { refuseSuspended } from './refuse-suspended';
export { validationFailed } from './validation-errors';
