select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."book" t1 left join "public"."person" t2 on t2."id" = t1."author" order by case when isfinite(t2."born") then extract(year from t2."born")::int end, t1."id" limit 100) r
-- []
