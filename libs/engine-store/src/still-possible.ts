/** For `SET`, of a rule observed absent: from when on it is possible, when a call may still land late. */
export const STILL_POSSIBLE = 'CASE WHEN in_flight_until > now() THEN possible_since END';
