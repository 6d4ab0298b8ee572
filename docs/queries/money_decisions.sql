-- What did we decide with Daniel Okafor about money this year?
SELECT decided_on, importance, description, quote
FROM marts.decisions
WHERE 'Daniel Okafor' = ANY (entity_names)
  AND status = 'open'
  AND importance = 'high'
  AND description || ' ' || quote ~* '[$€£₽¥]|\m(usd|eur|gbp|rub|dollars?|euros?|price|invoice|fee|deposit|pay|paid)\M|\d\s?k\M'
  AND date_trunc('year', decided_on) = date_trunc('year', (SELECT today FROM marts.memory_day))
ORDER BY decided_on DESC, decision_id;
