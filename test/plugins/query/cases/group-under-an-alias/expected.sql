select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "y", t2.g1 as "at_year" from (select case when isfinite(t1."at") then extract(year from t1."at" at time zone 'UTC')::int end as g0, t1."at_year" as g1 from "public"."awkward" t1 group by 1, 2 order by 1, 2 limit 100) t2) r
-- []
