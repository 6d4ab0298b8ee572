-- What did the last months cost, by task and model?
SELECT to_char(day, 'YYYY-MM') AS month, task, model, sum(calls)::int AS calls, sum(failed_calls)::int AS failed,
       sum(input_tokens + output_tokens)::int AS tokens, sum(cost_usd) AS usd
FROM marts.llm_cost_daily
GROUP BY month, task, model
ORDER BY month DESC, usd DESC, task, model
LIMIT 12;
